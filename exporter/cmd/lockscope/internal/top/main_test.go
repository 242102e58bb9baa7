package top

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

// argumentsOf is the variable with which this test binary is lockscope itself, for a real terminal.
const argumentsOf = "LOCKSCOPE_TEST_TOP"

func TestMain(m *testing.M) {
	if args := os.Getenv(argumentsOf); args != "" {
		os.Exit(lockscope(strings.Fields(args)))
	}
	cmdtest.Main(m)
}

// lockscope is main without its other commands.
func lockscope(args []string) int {
	redis.SetLogger(&logging.VoidLogger{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var environ []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, argumentsOf) {
			environ = append(environ, v)
		}
	}
	return run(ctx, args, environ, os.Stdin, os.Stdout, os.Stderr)
}

// run is lockscope with this command alone.
var run = cmdtest.Of(Command)

func command(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return run.Command(t, args...)
}
