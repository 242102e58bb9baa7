// Command lockscope finds leaked locks, shows who holds what, checks servers before you trust them with locks, and runs
// commands under a lock.
// Run it with --help.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/discover"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/list"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/operator"
	runcommand "github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/run"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/scan"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/serve"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top"
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

const rootHelp = `Run commands under distributed locks, show who holds them, and find leaked locks of any library,
in Redis, PostgreSQL, etcd and ZooKeeper.`

const rootExample = `  lockscope list --redis 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379`

func newRoot(a *ui.App) *cobra.Command {
	return a.Root(&cobra.Command{
		Use: "lockscope", Short: "Use, watch and check distributed locks",
		Long: rootHelp, Example: rootExample, Version: exporter.Version(),
	}, scan.Command(a), serve.Command(a), list.Command(a), top.Command(a),
		runcommand.Command(a), runcommand.Elect(a), operator.Hold(a), operator.Revoke(a),
		operator.Repair(a), doctor.Command(a), doctor.Init(a),
		doctor.Reconfigure(a), discover.Command(a), discover.Explain(a), config.Command(a), newDashboards(a), newVersion(a),
		ui.Manual(exporter.Version()))
}

func newVersion(a *ui.App) *cobra.Command {
	var output ui.Format
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			if output == ui.JSON {
				return ui.WriteJSON(a.Out, map[string]any{"schema": ui.SchemaVersion, "version": exporter.Version()})
			}
			_, err := fmt.Fprintf(a.Out, "lockscope %s\n", exporter.Version())
			return err
		},
	}
	output.Register(cmd.Flags())
	return cmd
}
