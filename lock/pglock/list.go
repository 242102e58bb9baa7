package pglock

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Querier runs queries: a *pgx.Conn, a *pgxpool.Pool or a pgx.Tx.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// ReadHeldLocks returns the locks that are held, ordered by key. It reads the view held, which [Grant]
// allows, and changes nothing. The Fence is that of the grant; leases handed over inside the holder's process
// have later ones. A standby can answer too, with a delay.
func ReadHeldLocks(ctx context.Context, db Querier, schema string) ([]inspect.HeldLock, error) {
	return read(ctx, db, schema,
		"SELECT key, fence, holder, CASE WHEN isfinite(expires) "+
			"THEN greatest(0, least(extract(epoch FROM expires - clock_timestamp()), 9e9))::float8 ELSE -1 END "+
			"FROM %s.held ORDER BY key",
		func(row pgx.CollectableRow) (h inspect.HeldLock, err error) {
			var fence int64
			var holder string
			var left float64
			err = row.Scan(&h.Key, &fence, &holder, &left)
			h.Type, h.Fence, h.Remaining = "row", uint64(fence), inspect.Left(time.Duration(left*float64(time.Second)))
			if said, parseErr := records.ParseHolder(holder); parseErr == nil {
				h.Holder = said
			}
			return h, err
		})
}

// ReadWaiting returns the waiters, ordered by key and by position in the queue. A process has no record while it
// has waited for less than 100 ms. Ask the primary: the queue is not replicated.
func ReadWaiting(ctx context.Context, db Querier, schema string) ([]inspect.Waiting, error) {
	return read(ctx, db, schema, "SELECT key, ticket, record FROM %s.waiting",
		func(row pgx.CollectableRow) (w inspect.Waiting, err error) {
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
