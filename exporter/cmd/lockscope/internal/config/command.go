// Package config says which groups of servers are swept, for what, and where findings are sent: by the flags that scan
// and serve have in common, by a configuration file, or both. lockscope config checks such a file.
//
// A [File] is read strictly: an unknown name is an error with its line and the name that was probably meant. No error
// repeats a value, which could be a secret. [GroupFlags] build [Groups] of it and of the flags, which win over it.
package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner"
)

const configHelp = `Validate the configuration file of scan and serve (--config FILE), or print its schema.

A file contains:
  groups       independent sets of servers, each with its own quorum, user and TLS: redis, or one
               postgres, etcd or zookeeper with its own prefixes and limits
  patterns     where locks are in Redis, with their limits (max_ttl, max_hold, max_term),
               no_ttl_allowed, and the team that gets their alerts
  exclusions   known findings to leave out: pattern, until and reason, all three required
  notify       where to send alerts: labels, severity, credentials
  interval, throttle, max_ttl, max_hold, max_term, checks, allow_empty   like the flags of that name

Flags and their variables win over the file. Set servers in the file or by flags, not both. Paths in
the file are relative to it. serve reads it again on SIGHUP, and files of secrets when they change.
If the new file is bad, serve keeps the old configuration.`

const configExample = `  lockscope config check lockscope.yaml             # lists every error with its line
  lockscope config check --connect lockscope.yaml   # also asks the servers
  lockscope config schema > lockscope.schema.json   # for editors`

// connectTimeout bounds what config check --connect asks of a server.
const connectTimeout = inspect.DialTimeout + time.Second // a system beside Redis says why it did not answer

const configCheckHelp = `Validate a configuration file and list every error with its line. Never prints a value.`

const configSchemaHelp = `Print the JSON schema of a configuration file, for editors that complete and check YAML.`

// Command is lockscope config.
func Command(a *ui.App) *cobra.Command {
	cmd := ui.Page{Topics: []string{"connection", "findings", "serving"}}.On(&cobra.Command{
		Use: "config", Short: "Validate a configuration file, or print its schema", Long: configHelp,
		Example: configExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	})
	connect, output := false, ui.Table
	check := ui.Page{Topics: []string{"json"}, Exit: "0 the file is valid, 2 it is not, or a server does not answer (--connect)"}.On(
		&cobra.Command{
			Use: "check FILE", Short: "Validate a configuration file and list every error with its line", Args: oneFile,
			Long: configCheckHelp,
			Example: "  lockscope config check lockscope.yaml\n" +
				"  lockscope config check lockscope.yaml --connect",
			RunE: func(cmd *cobra.Command, args []string) error {
				found, err := checkConfig(cmd.Context(), a, args[0], connect)
				return writeCheck(a, output, args[0], found, err)
			},
		})
	check.Flags().BoolVar(&connect, "connect", false, "also ask the servers that the file names")
	output.Register(check.Flags())
	ui.CommandLineOnly(check.Flags(), "connect")
	schema := &cobra.Command{
		Use: "schema", Short: "Print the JSON schema of a configuration file, for editors",
		Long: configSchemaHelp, Example: "  lockscope config schema > lockscope.schema.json",
		RunE: func(*cobra.Command, []string) error {
			text, err := Schema()
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
		return fmt.Errorf("config check takes one file, not %d arguments: use \"lockscope config check FILE\"",
			len(args))
	}
	return nil
}

// checkConfig builds what scan would build from the file, but sweeps nothing. It returns what a valid file has.
func checkConfig(ctx context.Context, a *ui.App, path string, connect bool) (found string, err error) {
	f := &GroupFlags{}
	f.Register(pflag.NewFlagSet("", pflag.ContinueOnError), 0)
	f.Config = path
	file, err := Load(path)
	if err != nil {
		return "", err
	}
	if len(file.Groups) == 0 {
		return "no servers: name them with --redis", nil
	}
	all, err := f.Build(a, file, time.Hour, nil, func(*Group) ([]scanner.Option, error) { return nil, nil })
	if err != nil {
		return "", err
	}
	defer func() { _ = all.Close() }()
	if connect {
		err = ask(ctx, all)
	}
	return inventory(file, all), err
}

// checkDocument is the result of config check in JSON: see the topic json.
type checkDocument struct {
	Schema   int       `json:"schema"`
	File     string    `json:"file"`
	Status   string    `json:"status"`
	Found    string    `json:"found,omitempty"`
	Problems []Problem `json:"problems"`
}

// writeCheck prints the result. The caller prints the error that it returns.
func writeCheck(a *ui.App, format ui.Format, path, found string, err error) error {
	if format != ui.JSON {
		if err == nil {
			_, err = fmt.Fprintf(a.Out, "%s: ok: %s\n", path, found)
		}
		return err
	}
	d := checkDocument{Schema: ui.SchemaVersion, File: path, Status: "ok", Found: found, Problems: []Problem{}}
	if known := (*Problems)(nil); errors.As(err, &known) {
		d.Status, d.Problems = "invalid", known.All
	} else if err != nil {
		d.Status, d.Problems = "invalid", []Problem{{Text: err.Error()}}
	}
	return errors.Join(err, ui.WriteJSON(a.Out, d))
}

func inventory(file *File, all Groups) string {
	servers := inspect.Count(all.Servers(), "server")
	parts := []string{inspect.Count(len(file.Groups), "group") + ", " + servers}
	for _, e := range file.Exclusions {
		if !time.Now().Before(e.Until.Time) {
			parts = append(parts, "an exclusion has expired: "+inspect.KeyText(e.Pattern))
		}
	}
	return strings.Join(parts, "; ")
}

// ask sends each server, at the same time, the first request of a sweep.
func ask(ctx context.Context, all Groups) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var mu sync.Mutex
	var errs []error
	note := func(err error) {
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		}
	}
	all.Each(func(_ int, g *Group) {
		var asking sync.WaitGroup
		for _, n := range append(g.Nodes[:len(g.Nodes):len(g.Nodes)], g.Replicas...) {
			asking.Go(func() {
				if err := n.Client.Info(ctx, "server").Err(); err != nil {
					note(fmt.Errorf("group %s: %s: %w", g.Name, n.Name, redisconn.Scrub(err)))
				}
			})
		}
		if g.System != nil {
			asking.Go(func() { note(ofGroup(g, g.System.Ping(ctx))) })
		}
		asking.Wait()
	})
	return errors.Join(errs...)
}

// ofGroup names the group; a system names itself.
func ofGroup(g *Group, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("group %s: %w", g.Name, err)
}
