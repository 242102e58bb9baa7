package ui

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Format is the format of a command's results.
type Format string

const (
	Table Format = "table"
	JSON  Format = "json"
)

// Register adds --output.
func (o *Format) Register(set *pflag.FlagSet) {
	*o = Table
	set.VarP(o, "output", "o", "table or json")
	Group(set, Result, "output")
}

// Set implements pflag.Value.
func (o *Format) Set(text string) error {
	switch Format(text) {
	case Table, JSON:
		*o = Format(text)
		return nil
	}
	return errors.New("use table or json")
}

// String implements pflag.Value.
func (o *Format) String() string { return string(*o) }

// Type implements pflag.Value.
func (o *Format) Type() string { return "format" }

// SchemaVersion is that of results in JSON.
const SchemaVersion = 1

// WriteJSON writes a result.
func WriteJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

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
func Colored(w io.Writer, env Env) bool {
	return Terminal(w) > 0 && env["NO_COLOR"] == "" && env["TERM"] != "dumb"
}
