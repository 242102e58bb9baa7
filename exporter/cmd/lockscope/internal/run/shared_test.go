//go:build unix

package run

import (
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

// TestRunShared: commands with --shared run beside each other, and the one with --exclusive beside none. A plain lock
// of that name excludes both.
func TestRunShared(t *testing.T) {
	s := server(t)
	start := func(l *cmdtest.Life, more ...string) *cmdtest.Started {
		return cmdtest.Start(t, shell(s, "exec 9>"+l.Path+"; echo running >&9; exec sleep 600", more...)...)
	}
	first, second, writer := cmdtest.NewLife(t), cmdtest.NewLife(t), cmdtest.NewLife(t)
	r1 := start(first, "--shared")
	first.Await("running")
	r2 := start(second, "--shared")
	second.Await("running")
	for _, more := range [][]string{{"-x", "-n"}, {"-n"}} {
		command(t, shell(s, "exit 0", more...)...).Want(t, 1, `"nightly" is held by `)
	}
	r3 := start(writer, "-x")
	for _, r := range []*cmdtest.Started{r1, r2} {
		cmdtest.Must(t, r.Signal(syscall.SIGTERM))
		r.Wait().Want(t, 128+int(syscall.SIGTERM))
	}
	writer.Await("running")
	for _, more := range [][]string{{"-s", "-n"}, {"-x", "-n"}, {"-n"}} {
		command(t, shell(s, "exit 0", more...)...).Want(t, 1, `"nightly" is held by `)
	}
	cmdtest.Must(t, r3.Signal(syscall.SIGTERM))
	r3.Wait().Want(t, 128+int(syscall.SIGTERM))
	command(t, shell(s, "exit 7", "-s", "-n")...).Want(t, 7)
}
