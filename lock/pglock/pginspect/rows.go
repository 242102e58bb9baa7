package pginspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// rowFacts are those of the tables of locks, by the server's own statistics.
type rowFacts struct {
	Dead, Live int64
	Oldest     oldTransaction // that this role may see
	Unread     error
}

// oldTransaction may still read what was deleted since it began.
type oldTransaction struct {
	Age  time.Duration // 0: there is none
	PID  int32
	User string
}

func askRows(ctx context.Context, b *Inspector) (r rowFacts) {
	r.Unread = b.pool.QueryRow(ctx,
		"SELECT coalesce(sum(n_dead_tup), 0)::bigint, coalesce(sum(n_live_tup), 0)::bigint "+
			"FROM pg_stat_all_tables WHERE schemaname = $1 AND relname IN ('lock', 'waiter')", b.schema).Scan(&r.Dead,
		&r.Live)
	if r.Unread != nil {
		return r
	}
	var age float64
	err := b.pool.QueryRow(ctx,
		"SELECT extract(epoch FROM clock_timestamp() - xact_start)::float8, pid, usename::text "+
			"FROM pg_stat_activity "+
			"WHERE datname = current_database() AND backend_xmin IS NOT NULL AND xact_start IS NOT NULL AND usename "+
			"IS NOT NULL AND pid <> pg_backend_pid() "+
			"ORDER BY xact_start LIMIT 1").Scan(&age, &r.Oldest.PID, &r.Oldest.User)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		r.Unread = err
	}
	r.Oldest.Age = time.Duration(age * float64(time.Second))
	return r
}

// manyDead is more than vacuum leaves behind for few locks, and enough to slow down a lock that has them all.
const manyDead = 10_000

// longTransaction is longer than any call of a lock takes.
const longTransaction = time.Second

// checkRows: each use of a lock reads past its old row versions that vacuum could not remove yet.
func checkRows(r rowFacts) inspect.Result {
	detail := fmt.Sprintf("%s beside %s of locks and waiters", inspect.Count(r.Dead, "dead row version"),
		inspect.Count(r.Live, "live row"))
	switch {
	case r.Unread != nil:
		return inspect.Warned(inspect.OneLine(r.Unread).Error(), "try again")
	case r.Dead < max(manyDead, r.Live):
		return inspect.Passed(detail)
	case r.Oldest.Age > longTransaction:
		detail += fmt.Sprintf("; a transaction of %s (pid %d) is %s old", r.Oldest.User, r.Oldest.PID,
			r.Oldest.Age.Round(time.Second))
	}
	return inspect.Warned(detail, "busy locks get slower until vacuum removes the dead rows, which an old "+
		"transaction, a prepared transaction or a replication slot prevents: end it, "+
		"or give locks a database of their own")
}
