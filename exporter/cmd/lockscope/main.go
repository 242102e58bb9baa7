// Command lockscope finds leaked locks, shows who holds what, checks servers before you trust them with locks, and runs
// commands under a lock.
// Run it with --help.
package main

import (
	"context"
	"io"
	"os"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

func main() {
	if child.IsWatchdog(os.Args) {
		os.Exit(child.WatchdogMain(os.Stdin, os.Stderr))
	}
	// Failed dials are reported with their node; go-redis would write them to stderr again.
	redis.SetLogger(&logging.VoidLogger{})
	os.Exit(run(child.Context(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// run is the program without its process: it returns the exit status. Standard
// output carries data only, everything else goes to stderr.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := ui.New(environ, stdin, stdout, stderr)
	return a.Run(ctx, newRoot(a), args)
}
