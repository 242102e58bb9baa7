package configcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/sweep"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner"
)

const configHelp = `Config is about the configuration file of scan and serve (--config FILE):

  groups       servers that have nothing to do with each other, each with its own quorum, user and TLS
  patterns     where locks are, and what is right for them: max_ttl, max_hold, no_ttl_allowed
  exclusions   findings that are known: pattern, until, reason; all three are needed
  notify       who is told: labels, severity, credentials
  interval, throttle, max_ttl, max_hold, checks, allow_empty   as the flags of the same names

Flags and their variables win over the file. Servers are named by the file or by flags, not
both. Files that the file names are relative to where it is. serve reads it again on SIGHUP,
and the files of secrets when they change; a bad file leaves all as it was.

Exit status: 0 the file is right, 2 it is not, or a server does not answer (--connect).`

const configExample = `  lockscope config check lockscope.yaml             # every mistake with its line; exit 0 or 2
  lockscope config check --connect lockscope.yaml   # also asks the servers
  lockscope config schema > lockscope.schema.json   # for editors`

// connectTimeout bounds what config check --connect asks of a server.
const connectTimeout = 5 * time.Second

const configCheckHelp = `Check reads a configuration file as scan and serve do and says every mistake with its line,
never a value: it may be a secret. With --connect it also asks the servers that the file names.

Exit status: 0 nothing is wrong; 2 something is.`

const configSchemaHelp = `Schema prints the JSON schema of a configuration file, for editors that complete and check YAML by
one.

Exit status: 0.`

// Command is lockscope config.
func Command(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Check the configuration file, or print its schema", Long: configHelp,
		Example: configExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	connect := false
	check := &cobra.Command{
		Use: "check FILE", Short: "Say every mistake of a configuration file with its line", Args: oneFile,
		Long: configCheckHelp,
		Example: "  lockscope config check lockscope.yaml\n  lockscope config check lockscope.yaml " +
			"--connect",
		RunE: func(cmd *cobra.Command, args []string) error { return checkConfig(cmd.Context(), a, args[0], connect) },
	}
	check.Flags().BoolVar(&connect, "connect", false, "also ask the servers")
	flags.CommandLineOnly(check.Flags(), "connect")
	schema := &cobra.Command{
		Use: "schema", Short: "Print the JSON schema of a configuration file, for editors", Args: app.NoArguments,
		Long: configSchemaHelp, Example: "  lockscope config schema > lockscope.schema.json",
		RunE: func(*cobra.Command, []string) error {
			text, err := config.Schema()
			if err == nil {
				_, err = fmt.Fprintf(a.Out, "%s\n", text)
			}
			return err
		},
	}
	cmd.AddCommand(check, schema)
	return cmd
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("one configuration file is expected, and there are %d arguments", len(args))
	}
	return nil
}

// checkConfig makes all that scan would make of the file, but sweeps nothing.
func checkConfig(ctx context.Context, a *app.App, path string, connect bool) error {
	f := &sweep.GroupFlags{}
	f.Register(pflag.NewFlagSet("", pflag.ContinueOnError), 0)
	f.Config = path
	file, err := config.Load(path)
	if err != nil {
		return err
	}
	if len(file.Groups) == 0 {
		_, err := fmt.Fprintf(a.Out, "%s: ok; it names no servers: flags are to name them\n", path)
		return err
	}
	all, err := f.Build(a, file, time.Hour, nil, func(*sweep.Group) ([]scanner.Option, error) { return nil, nil })
	if err != nil {
		return err
	}
	defer func() { _ = all.Close() }()
	if connect {
		err = ask(ctx, all)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s: ok: %s\n", path, inventory(file, all))
	return err
}

func inventory(file *config.File, all sweep.Groups) string {
	parts := []string{fmt.Sprintf("%d groups, %d servers", len(file.Groups), len(all.Nodes()))}
	for _, e := range file.Exclusions {
		if !time.Now().Before(e.Until.Time) {
			parts = append(parts, "an exclusion has ended: "+scanner.KeyText(e.Pattern))
		}
	}
	return strings.Join(parts, "; ")
}

// ask asks each server, at the same time, for what a sweep asks first.
func ask(ctx context.Context, all sweep.Groups) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var mu sync.Mutex
	var errs []error
	all.Each(func(_ int, g *sweep.Group) {
		var asking sync.WaitGroup
		for _, n := range append(g.Nodes[:len(g.Nodes):len(g.Nodes)], g.Replicas...) {
			asking.Go(func() {
				if err := n.Client.Info(ctx, "server").Err(); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs = append(errs, fmt.Errorf("group %s: %s: %w", g.Name, n.Name, redisconn.Scrub(err)))
				}
			})
		}
		asking.Wait()
	})
	return errors.Join(errs...)
}
