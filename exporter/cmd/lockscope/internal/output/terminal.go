package output

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
)

// Terminal returns the width of the terminal that w is, or 0.
func Terminal(w any) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Colored reports whether output may carry colours: https://no-color.org.
func Colored(w io.Writer, env flags.Env) bool {
	return Terminal(w) > 0 && env["NO_COLOR"] == "" && env["TERM"] != "dumb"
}
