package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// postgresRole is who the services are: a role that owns nothing.
const postgresRole = "demo"

// postgres is one PostgreSQL server.
type postgres struct {
	cfg    config
	server *pgproc.Server
}

var _ backend = (*postgres)(nil)

func openPostgres(ctx context.Context, cfg config) (backend, error) {
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

func (p *postgres) locker(instance string) (*engine.Engine, error) {
	return pglock.Open(p.server.URL(postgresRole), p.cfg.options(instance)...)
}

func (p *postgres) describe() []string {
	return []string{
		fmt.Sprintf("1 PostgreSQL server on 127.0.0.1, port %d", p.server.Port()),
		"locks are rows of its schema " + pglock.DefaultSchema + ", read them with",
		fmt.Sprintf("psql -h 127.0.0.1 -p %d -U postgres -c 'SELECT * FROM %s.held'", p.server.Port(),
			pglock.DefaultSchema),
	}
}

func (p *postgres) reads() []string {
	return []string{"--postgres", quoted(p.server.URL(postgresRole))}
}

func (p *postgres) faults(f *faults) []fault {
	restarted := f.disrupt(disruption{
		word: "KILL", what: "the server is killed, and started again soon, on the data it has",
		take: p.server.Kill, giveBack: p.restart, backWord: "START", back: "the server takes connections again",
		did: "the server was gone for",
	})
	hangs := outage{
		hung: []pauser{p.server},
		hang: "the server hangs", back: "the server answers again", they: "the server",
	}
	return []fault{
		{0.15, "killed server", restarted},
		{0.40, "crashed holder", f.crash(fmt.Sprintf("its row stays for a TTL of %v", p.cfg.ttl))},
		{0.62, "hung server", f.outage(hangs)},
	}
}

// restart goes on when the run is over: services still have locks to give back.
func (p *postgres) restart() error { return p.server.Restart(context.Background()) }

func (p *postgres) scanned() (urls []string, prefix string) { return nil, "" }

func (p *postgres) close() error { return p.server.Stop() }
