package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

const initHelp = `Prepare new servers: vouch for Redis nodes once, or create the schema in PostgreSQL.

Redis: you declare that nobody can hold a lock on the nodes, because they were never used for locks.
Run it once, when you set them up. Never run it to shorten the wait for servers that restarted, or
each time a service starts: a lock that such a server forgot would get a second holder.
PostgreSQL: run it as the owner of the schema, as often as you like. Held locks stay held.`

const initExample = `  lockscope init --redis 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379
  lockscope init --redis r1:6379,r2:6379,r3:6379 --if-new    # for a step that runs at every start
  lockscope init --postgres postgres://owner@db/shop --grant orders`

type initFlags struct {
	servers servers.Flags // of Redis and PostgreSQL
	output  ui.Format
	names   servers.NamesFlag
	guard   diagnosis.GuardFlags
	maxTTL  time.Duration
	ifNew   bool
	isNew   *ui.List

	grant *ui.List

	restarted redlock.RestartedNode
}

// Init is lockscope init.
func Init(a *ui.App) *cobra.Command {
	f := &initFlags{grant: ui.NewList("role"), isNew: ui.NewList("name")}
	cmd := ui.Page{
		Everyday: []string{
			"redis", "redis-username", "redis-password-file", "node-names", "max-ttl", "if-new",
			"new", "restarted", "run-id", "quarantine", "postgres", "grant", "output",
		},
		Exit:   "0 prepared, now or before; 2 refused, or an error",
		Topics: []string{"quarantine", "connection", "json"},
	}.On(&cobra.Command{
		Use: "init", Short: "Prepare new servers: vouch for Redis nodes, create a PostgreSQL schema", Long: initHelp,
		Example: initExample,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.checkSystem(cmd.Flags()); err != nil {
				return err
			}
			if f.servers.Others.PostgresNamed() {
				return f.prepare(cmd.Context(), a)
			}
			return f.run(cmd.Context(), a)
		},
	})
	set := cmd.Flags()
	f.servers.Redis.Register(set)
	f.names.Register(set)
	f.guard.RegisterForActs(set)
	set.DurationVar(&f.maxTTL, "max-ttl", lock.DefaultMaxTTL, "longest TTL of a lock: WithMaxTTL of the services")
	set.BoolVar(&f.ifNew, "if-new", false, "also exit with 0 if the nodes were used before. "+
		"They then wait, as they should. Use it only for nodes that keep their data: a node that lost all of it "+
		"looks new")
	set.Var(f.isNew, "new", "`name` of a new node whose server shows use, such as FLUSHALL. Repeat it, "+
		"or separate several by commas")
	set.StringVar(&f.restarted.Name, "restarted", "", "vouch only for the node of this `name`, which restarted")
	set.StringVar(&f.restarted.RunID, "run-id", "",
		"`run_id` of its process, from \"lockscope doctor\"")
	set.StringVar(&f.restarted.Quarantine, "quarantine", "",
		"`identity` of its quarantine, from \"lockscope doctor\"")
	f.servers.Others.RegisterPostgres(set)
	set.Var(f.grant, "grant",
		"`role` that may take locks in PostgreSQL, besides the owner. Repeat it, or separate several by commas")
	f.output.Register(set)
	ui.Group(set, "PostgreSQL", "postgres", "schema", "postgres-password-file", "grant")
	ui.Group(set, "Vouching", "max-ttl", "if-new", "new")
	ui.Group(set, "One restarted node", "restarted", "run-id", "quarantine")
	return cmd
}

func (f *initFlags) run(ctx context.Context, a *ui.App) error {
	if f.maxTTL <= 0 {
		return fmt.Errorf("--max-ttl %v is not positive", f.maxTTL)
	}
	if f.servers.Redis.Config.Cluster {
		return errors.New("--cluster: nodes of a Redis Cluster need no vouching, " +
			"as they vote at once after every restart")
	}
	targets, err := f.servers.Redis.Open(a)
	if err != nil {
		return err
	}
	defer servers.Release(targets)
	names, err := f.names.Of(targets)
	if err != nil {
		return err
	}
	if f.restarted != (redlock.RestartedNode{}) {
		return f.vouchForOne(ctx, a, targets, names)
	}
	report, err := vouch(ctx, targets, names, f.maxTTL, f.guard, f.isNew.Values())
	if ctx.Err() != nil {
		return ui.ErrInterrupted
	}
	if err != nil {
		return err
	}
	if err := writeInit(a, f.output, report); err != nil {
		return err
	}
	if report.Result == Refused && (!f.ifNew || !report.Used) {
		return &ui.StatusError{Status: ui.ExitError}
	}
	return nil
}

// vouchForOne ends the quarantine of a node that is known to have forgotten nothing.
func (f *initFlags) vouchForOne(ctx context.Context, a *ui.App, targets []servers.Node, names []string) error {
	if f.restarted.Name == "" || f.restarted.RunID == "" || f.restarted.Quarantine == "" {
		return errors.New(
			"--restarted, --run-id and --quarantine need each other: get all three from \"lockscope doctor\"")
	}
	if err := redlock.VouchRestarted(ctx, servers.Clients(targets), f.restarted,
		Options(names, f.maxTTL, f.guard)...); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Out, "vouched for %s: it votes until it restarts\n", f.restarted.Name)
	return err
}
