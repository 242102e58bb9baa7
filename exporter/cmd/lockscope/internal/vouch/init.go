package vouch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

const initHelp = `Init vouches for new servers: it declares that nobody can hold a lock on them, because
they just started and were never used for locks. Three nodes or more then vote at once.
Without it they do not for --max-ttl and 1 %, and at least 15 s, after each start, as
they may have forgotten locks that are still valid; one or two nodes vote anyway.

It is an act for new nodes, once, by whoever sets them up. Never make it a part of what
a service does when it starts, and never use it to hurry up nodes that restarted: a
lock that such a node forgot is a second holder. It holds until a server's next start.

All nodes of the lock must be given, answer, be separate masters, and have nothing of
lockscope's in them. Else nothing is vouched for, and what stands in the way is told.
Nodes vote for one configuration: their addresses (or --node-names, where services give
WithNodeNames) and --max-ttl must be those of the services. Changing them later is
lockscope reconfigure.
The user needs ~lockscope:* +info +dbsize +scan +get +mget +set +del +eval +time on
every node.

One node that restarted, and of which you know that it forgot nothing that matters, can
be vouched for by itself: --restarted with its name, --run-id and --quarantine with what
lockscope doctor says of it. That is good once.

Exit status: 0 done, or done before; 2 refused, or an error. With --if-new also 0 if
nothing but former use stood in the way, for a step that runs at every start: the nodes
then wait, as they should. Use it only for nodes that keep their data: one that lost all
of it looks new.

JSON output (schema 1): status: vouched|already|refused; nodes[] of node, result
(vouched, already, refused: it stood in the way, untouched: another did), detail,
advice, uptime_seconds, quarantine_left_seconds.`

const initExample = `  lockscope init --redis 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379
  lockscope init --redis-file nodes.txt --redis-username admin --redis-password-file /run/secrets/redis
  LOCKSCOPE_REDIS=r1:6379,r2:6379,r3:6379 lockscope init --if-new    # in a script that also runs at later starts`

type initFlags struct {
	redis  target.Flags
	output output.Format
	names  target.NamesFlag
	maxTTL time.Duration
	ifNew  bool

	restarted redlock.RestartedNode
}

// Command is lockscope init.
func Command(a *app.App) *cobra.Command {
	f := &initFlags{}
	cmd := &cobra.Command{
		Use: "init", Short: "Vouch for new servers, once, so that they vote at once", Long: initHelp,
		Example: initExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	set := cmd.Flags()
	f.redis.Register(set)
	f.output.Register(set)
	f.names.Register(set)
	set.DurationVar(&f.maxTTL, "max-ttl", lock.DefaultMaxTTL, "longest TTL a lock may have: WithMaxTTL of the services")
	set.StringVar(&f.restarted.Name, "restarted", "", "vouch for this one node, which restarted, and for no other")
	set.StringVar(&f.restarted.RunID, "run-id", "",
		"with --restarted: run_id of its process, exactly as lockscope doctor shows it")
	set.StringVar(&f.restarted.Quarantine, "quarantine", "",
		"with --restarted: identity of its quarantine, as lockscope doctor tells it")
	set.BoolVar(&f.ifNew, "if-new", false, "exit with 0 also if the nodes were used before and therefore have to wait")
	return cmd
}

func (f *initFlags) run(ctx context.Context, a *app.App) error {
	if f.maxTTL <= 0 {
		return fmt.Errorf("--max-ttl %v is not positive", f.maxTTL)
	}
	if f.redis.Config.Cluster {
		return errors.New("--cluster: nobody can vouch for the nodes of a Redis Cluster, " +
			"which vote at once after every restart")
	}
	targets, err := f.redis.Open(a)
	if err != nil {
		return err
	}
	defer target.Release(targets)
	names, err := f.names.Of(targets)
	if err != nil {
		return err
	}
	if f.restarted != (redlock.RestartedNode{}) {
		return f.vouchForOne(ctx, a, targets, names)
	}
	report, err := Run(ctx, servers(targets), names, f.maxTTL)
	if ctx.Err() != nil {
		return app.ErrInterrupted
	}
	if err != nil {
		return err
	}
	if err := writeInit(a, f.output, report); err != nil {
		return err
	}
	if report.Result == Refused && (!f.ifNew || !report.Used) {
		return &app.StatusError{Status: app.ExitError}
	}
	return nil
}

// vouchForOne ends the quarantine of a node that is known to have forgotten nothing.
func (f *initFlags) vouchForOne(ctx context.Context, a *app.App, targets []target.Node, names []string) error {
	if f.restarted.Name == "" || f.restarted.RunID == "" || f.restarted.Quarantine == "" {
		return errors.New("--restarted, --run-id and --quarantine belong together: lockscope doctor tells all three")
	}
	if err := redlock.VouchRestarted(ctx, target.Clients(targets), f.restarted,
		Options(names, f.maxTTL)...); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Out, "vouched for %s, until it restarts: it votes\n", f.restarted.Name)
	return err
}

// servers leaves out nothing: without --cluster every client is of one server.
func servers(targets []target.Node) (nodes []Node) {
	for _, n := range targets {
		if c, ok := n.Client.(*redis.Client); ok {
			nodes = append(nodes, Node{Name: n.Name, Client: c})
		}
	}
	return nodes
}
