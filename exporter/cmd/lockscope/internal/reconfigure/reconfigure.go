package reconfigure

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/quarantine"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/vouch"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

const reconfigureHelp = `Reconfigure changes the members of a set of three nodes or more, or the longest TTL of
its locks. Nodes vote for one configuration; two at a time could each have a quorum.

It takes the votes of the old nodes (--from) from the old configuration, and begins a
quarantine under the new one (--redis, --max-ttl) on all nodes of the new set, for as
long as a lock of either can be valid: no lock can be taken for that time. Services with
the old configuration are refused from then on, lose their locks as they run out, and
have to be stopped, or started with the new one.

The order: stop the services with the old configuration or be ready to, run this, start
them with the new one. Where the nodes that join are a quorum of the new set by
themselves (from three nodes to seven), no service may have the new one before.

--from must be what stands on the nodes: the first node that stands for a third
configuration ends it before anything is changed. Of two at once one wins.

Every node that joins must answer, and a quorum of the old and of the new set. A change
that was cut off leaves nodes silent: the same command finishes it, ten seconds later,
and with --from and --redis (--from-max-ttl and --max-ttl) exchanged it is undone. A
node of both sets that did not answer is named; once it is back, the same command, or
that with --from left out, lets it join, and costs the others nothing.

The user needs ~lockscope:* +info +get +mget +set +del +eval +time on every node.

Exit status: 0 done, 1 done, but nodes did not answer, 2 refused, or an error.

JSON output (schema 1): status: changed or unchanged; away[]; quarantine_seconds.`

const reconfigureExample = `  lockscope reconfigure --from r1:6379,r2:6379,r3:6379 --redis r1:6379,r2:6379,r3:6379,r4:6379,r5:6379
  lockscope reconfigure --from r1:6379,r2:6379,r3:6379,r4:6379,r5:6379 --redis r1:6379,r2:6379,r3:6379    # undo it
  lockscope reconfigure --from r1:6379,r2:6379,r3:6379 --from-max-ttl 1m --redis r1:6379,r2:6379,r3:6379 --max-ttl 10m`

type reconfigureFlags struct {
	redis      target.Flags
	output     output.Format
	names      target.NamesFlag
	maxTTL     time.Duration
	from       *flags.List
	fromNames  *flags.List
	fromMaxTTL time.Duration
}

// Command is lockscope reconfigure.
func Command(a *app.App) *cobra.Command {
	f := &reconfigureFlags{from: flags.NewList("URL"), fromNames: flags.NewList("name")}
	cmd := &cobra.Command{
		Use: "reconfigure", Short: "Change the members of a set of nodes, or the longest TTL", Long: reconfigureHelp,
		Example: reconfigureExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	set := cmd.Flags()
	f.redis.Register(set)
	f.output.Register(set)
	f.names.Register(set)
	set.DurationVar(&f.maxTTL, "max-ttl", lock.DefaultMaxTTL,
		"longest TTL a lock may have from now on: WithMaxTTL of the services")
	set.Var(f.from, "from",
		"nodes of the old configuration, in the form of --redis; without it, those of the new one, "+
			"which others are to join")
	set.Var(f.fromNames, "from-node-names", "what the services of before call the nodes, in the order of --from")
	set.DurationVar(&f.fromMaxTTL, "from-max-ttl", 0, "longest TTL of before; 0 for --max-ttl")
	return cmd
}

// reconfigureReport is the JSON form of a change.
type reconfigureReport struct {
	Schema     int      `json:"schema"`
	Status     string   `json:"status"`
	Away       []string `json:"away"`
	Quarantine float64  `json:"quarantine_seconds"`
}

func (f *reconfigureFlags) run(ctx context.Context, a *app.App) error {
	if f.redis.Config.Cluster || f.redis.Config.SentinelMaster != "" {
		return errors.New("--cluster, --sentinel-master: such a node votes for any configuration")
	}
	switch {
	case f.maxTTL <= 0:
		return fmt.Errorf("--max-ttl %v is not positive", f.maxTTL)
	case f.fromMaxTTL < 0:
		return fmt.Errorf("--from-max-ttl %v is not positive", f.fromMaxTTL)
	case f.fromMaxTTL == 0:
		f.fromMaxTTL = f.maxTTL
	}
	to, toNodes, err := f.configuration(a, f.redis.URLs.Values(), f.names, f.maxTTL)
	if err != nil {
		return err
	}
	defer target.Release(toNodes)
	urls, names := f.from.Values(), target.NamesFlag{List: f.fromNames}
	if len(urls) == 0 {
		urls, names = f.redis.URLs.Values(), f.names
	}
	from, fromNodes, err := f.configuration(a, urls, names, f.fromMaxTTL)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer target.Release(fromNodes)
	away, err := redlock.Reconfigure(ctx, from, to)
	if ctx.Err() != nil {
		return errors.Join(app.ErrInterrupted, err)
	}
	unchanged := errors.Is(err, redlock.ErrAlreadyChanged)
	if err != nil && !unchanged {
		return err
	}
	if err := f.write(a, away, unchanged); err != nil || len(away) == 0 {
		return err
	}
	return &app.StatusError{Status: app.ExitFindings}
}

func (f *reconfigureFlags) configuration(a *app.App, urls []string, names target.NamesFlag,
	maxTTL time.Duration) (redlock.Configuration, []target.Node, error) {
	nodes, err := f.redis.OpenURLs(a, urls)
	if err != nil {
		return redlock.Configuration{}, nil, err
	}
	called, err := names.Of(nodes)
	if err != nil {
		target.Release(nodes)
		return redlock.Configuration{}, nil, err
	}
	return redlock.Configuration{Nodes: target.Clients(nodes), Options: vouch.Options(called, maxTTL)}, nodes, nil
}

func (f *reconfigureFlags) write(a *app.App, away []string, unchanged bool) error {
	status, silent := "changed", redlock.Quarantine(max(f.maxTTL, f.fromMaxTTL))
	text := fmt.Sprintf("changed: no lock can be taken for %v from when a service first asks\n",
		quarantine.RoundUp(silent))
	if unchanged {
		status, silent = "unchanged", 0
		text = "unchanged: the nodes have gone over to this configuration already\n"
	}
	if f.output == output.JSON {
		return output.WriteJSON(a.Out, reconfigureReport{output.SchemaVersion, status, append([]string{}, away...),
			silent.Seconds()})
	}
	if len(away) > 0 {
		text += fmt.Sprintf("did not answer, and vote for neither: %s\n-> once they are back, run this again\n",
			strings.Join(away, " "))
	}
	_, err := fmt.Fprint(a.Out, text)
	return err
}
