package cmdtest

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// Main keeps go-redis from reporting the planted faults by itself, as the program does. A
// pool whose dials all failed looks once a second whether it was closed.
func Main(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	goleak.VerifyTestMain(m, goleak.Cleanup(os.Exit),
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// Program is lockscope in this process: main's run, or what [Of] makes.
type Program func(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int

// Of is lockscope with these commands alone.
func Of(commands ...func(*ui.App) *cobra.Command) Program {
	return func(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
		a := ui.New(environ, stdin, stdout, stderr)
		all := make([]*cobra.Command, len(commands))
		for i, command := range commands {
			all[i] = command(a)
		}
		return a.Run(ctx, a.Root(&cobra.Command{Use: "lockscope"}, all...), args)
	}
}

// Command runs a command line.
func (run Program) Command(t testing.TB, args ...string) Outcome {
	t.Helper()
	return run.With(t, nil, "", args...)
}

// With runs a command line with this environment and standard input.
func (run Program) With(t testing.TB, environ []string, stdin string, args ...string) Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	status := run(ctx, args, environ, strings.NewReader(stdin), &out, &errOut)
	if strings.Contains(errOut.String(), `for "lockscope"`) { // as cobra says of a command that is not there
		t.Fatalf("Of was not given the command of %q: %s", args, &errOut)
	}
	return Outcome{status, out.String(), errOut.String()}
}
