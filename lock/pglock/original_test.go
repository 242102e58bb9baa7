package pglock_test

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// original is the server whose data those of the tests are copies of: its database takes a second of a processor to make.
var original template

type template struct {
	mu     sync.Mutex
	server *pgproc.Server
}

// get makes the server at the first call.
func (o *template) get(ctx context.Context) (*pgproc.Server, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.server != nil {
		return o.server, nil
	}
	s, err := pgproc.Start(ctx)
	if err != nil {
		return nil, err
	}
	if err = errors.Join(prepare(ctx, s), s.ShutDown(ctx)); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	o.server = s
	return s, nil
}

// prepare lets a role that owns nothing take locks.
func prepare(ctx context.Context, s *pgproc.Server) error {
	db, err := pgxpool.New(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	if err = pglock.Migrate(ctx, db, pglock.DefaultSchema); err != nil {
		return err
	}
	if _, err = db.Exec(ctx, "CREATE ROLE service LOGIN"); err != nil {
		return err
	}
	return pglock.Grant(ctx, db, pglock.DefaultSchema, "service")
}

func (o *template) remove() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.server == nil {
		return nil
	}
	return o.server.Stop()
}
