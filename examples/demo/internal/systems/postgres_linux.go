package systems

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/examples/demo/internal/faults"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// postgresRole is who the services are: a role that owns nothing.
const postgresRole = "demo"

// postgres is one PostgreSQL server.
type postgres struct {
	cfg    Config
	server *pgproc.Server
}

var _ Backend = (*postgres)(nil)

func openPostgres(ctx context.Context, cfg Config) (Backend, error) {
	if err := pgproc.Available(); err != nil {
		return nil, missing(pgproc.ErrNotInstalled, err)
	}
	server, err := pgproc.Start(ctx)
	if err != nil {
		return nil, err
	}
	p := &postgres{cfg: cfg, server: server}
	if err := p.migrate(ctx); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return p, nil
}

// migrate does what the owner of a database does once.
func (p *postgres) migrate(ctx context.Context) error {
	owner, err := p.server.Connect(ctx, "postgres")
	if err != nil {
		return err
	}
	err = pglock.Migrate(ctx, owner, pglock.DefaultSchema)
	if err == nil {
		_, err = owner.Exec(ctx, "CREATE ROLE "+postgresRole+" LOGIN")
	}
	if err == nil {
		err = pglock.Grant(ctx, owner, pglock.DefaultSchema, postgresRole)
	}
	return errors.Join(err, owner.Close(ctx))
}

func (p *postgres) Locker(instance string) (*engine.Engine, error) {
	return pglock.Open(p.server.URL(postgresRole), p.cfg.options(instance)...)
}

func (p *postgres) Describe() []string {
	return []string{
		fmt.Sprintf("1 PostgreSQL server on 127.0.0.1, port %d", p.server.Port()),
		"locks are rows of its schema " + pglock.DefaultSchema + ", read them with",
		fmt.Sprintf("psql -h 127.0.0.1 -p %d -U postgres -c 'SELECT * FROM %s.held'", p.server.Port(),
			pglock.DefaultSchema),
	}
}

func (p *postgres) Reads() []string {
	return []string{"--postgres", screen.Quoted(p.server.URL(postgresRole))}
}

func (p *postgres) Faults(f *faults.Faults) []faults.Fault {
	restarted := f.Disrupt(faults.Disruption{
		Word: "KILL", What: "the server is killed, and started again soon, on the data it has",
		Take: p.server.Kill, GiveBack: p.restart, BackWord: "START", Back: "the server takes connections again",
		Did: "the server was gone for",
	})
	hangs := faults.Outage{
		Hung: []faults.Pauser{p.server},
		Hang: "the server hangs", Back: "the server answers again", They: "the server",
	}
	return []faults.Fault{
		{At: 0.15, Name: "killed server", Happen: restarted},
		{At: 0.40, Name: "crashed holder", Happen: f.Crash(fmt.Sprintf("its row stays for a TTL of %v", p.cfg.TTL))},
		{At: 0.62, Name: "hung server", Happen: f.Outage(hangs)},
	}
}

// restart goes on when the run is over: services still have locks to give back.
func (p *postgres) restart() error { return p.server.Restart(context.Background()) }

func (p *postgres) Scanned() (urls []string, prefix string) { return nil, "" }

func (p *postgres) Close() error { return p.server.Stop() }
