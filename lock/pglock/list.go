package pglock

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Querier reads: a *pgx.Conn, a *pgxpool.Pool or a pgx.Tx.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Held is a lock that somebody holds.
type Held struct {
	Key       string // with the prefix of the locker's options
	Fence     uint64 // of the grant; leases that were handed over inside the holder's process have later ones
	Holder    lock.Holder
	Remaining time.Duration // until it ends, unless renewed
}

// Waiting is a process that queues for a lock.
type Waiting struct {
	Key   string
	Since time.Time        // by the server's clock
	Says  *records.Waiting // of itself; nil as long as it has waited for less than a tenth of a second
}

// ReadHeld returns the locks that are held, by key. It reads the view held, for which
// [Grant] is enough, and changes nothing; a lock whose holder says nothing that can be read
// is there with an empty Holder. It may be asked of a standby, which is late.
func ReadHeld(ctx context.Context, db Querier, schema string) ([]Held, error) {
	return read(ctx, db, schema,
		"SELECT key, fence, holder, extract(epoch FROM expires - clock_timestamp())::float8 FROM %s.held ORDER BY key",
		func(row pgx.CollectableRow) (h Held, err error) {
			var fence int64
			var holder string
			var left float64
			err = row.Scan(&h.Key, &fence, &holder, &left)
			h.Fence, h.Remaining = uint64(fence), time.Duration(left*float64(time.Second))
			if said, parseErr := records.ParseHolder(holder); parseErr == nil {
				h.Holder = said
			}
			return h, err
		})
}

// ReadWaiting returns who queues, by key and in the order of the queue. It asks no standby:
// the queue is not replicated.
func ReadWaiting(ctx context.Context, db Querier, schema string) ([]Waiting, error) {
	return read(ctx, db, schema, "SELECT key, ticket, record FROM %s.waiting",
		func(row pgx.CollectableRow) (w Waiting, err error) {
			var ticket int64
			var record string
			err = row.Scan(&w.Key, &ticket, &record)
			w.Since = time.UnixMicro(ticket)
			if said, parseErr := records.ParseWaiting(record); parseErr == nil {
				w.Says = &said
			}
			return w, err
		})
}

func read[T any](ctx context.Context, db Querier, schema, sql string, scan pgx.RowToFunc[T]) ([]T, error) {
	if err := validSchema(schema); err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, fmt.Sprintf(sql, pgx.Identifier{schema}.Sanitize()), noPrepare)
	if err != nil {
		return nil, fmt.Errorf("pglock: %w", classify(err))
	}
	all, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("pglock: %w", classify(err))
	}
	return all, nil
}
