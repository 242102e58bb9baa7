package pglock_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/lock"
)

// BenchmarkPair is an acquire and a release that nobody else wants, beside what is needed at least for a lock of that durability: one
// commit that waits for the disk and one that does not; and beside an advisory lock, which is in memory and ends with its session.
// They take turns, so that all meet the same machine; medians.
func BenchmarkPair(b *testing.B) {
	s := server(b, "fsync=on")
	db := pool(b, s.URL("postgres"))
	_, err := db.Exec(b.Context(), "CREATE TABLE floor (key text PRIMARY KEY, n bigint) WITH (fillfactor = 50); INSERT INTO floor VALUES ('k', 0);"+
		"CREATE FUNCTION up() RETURNS bigint LANGUAGE sql AS $$ UPDATE floor SET n = n + 1 WHERE key = 'k' RETURNING n $$;"+
		"CREATE FUNCTION lazy() RETURNS bigint LANGUAGE sql AS $$ SELECT set_config('synchronous_commit', 'off', true); UPDATE floor SET n = n + 1 WHERE key = 'k' RETURNING n $$")
	must(b, err)
	conn, err := db.Acquire(b.Context())
	must(b, err)
	defer conn.Release()
	l := locker(b, s)
	pairs := []struct {
		name string
		do   func()
	}{
		{"floor", func() {
			query(b, db, "SELECT up()")
			query(b, db, "SELECT lazy()")
		}},
		{"advisory", func() {
			_, err := conn.Exec(b.Context(), "SELECT pg_advisory_lock(42)")
			must(b, err)
			_, err = conn.Exec(b.Context(), "SELECT pg_advisory_unlock(42)")
			must(b, err)
		}},
		{"pglock", func() {
			lease, err := l.Acquire(b.Context(), "job")
			must(b, err)
			must(b, lease.Release(b.Context()))
		}},
	}
	took := make([][]time.Duration, len(pairs))
	for b.Loop() {
		for i, pair := range pairs {
			began := time.Now()
			pair.do()
			took[i] = append(took[i], time.Since(began))
		}
	}
	var medians []float64
	for i, pair := range pairs {
		slices.Sort(took[i])
		medians = append(medians, float64(took[i][len(took[i])/2].Microseconds()))
		b.ReportMetric(medians[i], pair.name+"-us")
	}
	b.ReportMetric(medians[2]/medians[0], "ratio")
}

func query(b *testing.B, db *pgxpool.Pool, sql string) {
	var n int64
	must(b, db.QueryRow(b.Context(), sql).Scan(&n))
}

// BenchmarkHandOff is a lock that several processes want all the time: lockers of their own here, sessions of their own for the advisory
// lock, which is given in order as well.
func BenchmarkHandOff(b *testing.B) {
	for _, n := range []int{2, 8} {
		s := server(b, "fsync=on")
		b.Run("advisory lock/"+string(rune('0'+n)), func(b *testing.B) {
			config, err := pgxpool.ParseConfig(s.URL("service"))
			must(b, err)
			config.MaxConns = int32(n)
			db, err := pgxpool.NewWithConfig(b.Context(), config)
			must(b, err)
			defer db.Close()
			inTurn(b, n, func(ctx context.Context) error {
				conn, err := db.Acquire(ctx)
				if err != nil {
					return err
				}
				defer conn.Release()
				if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(42)"); err != nil {
					return err
				}
				_, err = conn.Exec(ctx, "SELECT pg_advisory_unlock(42)")
				return err
			})
		})
		b.Run("pglock/"+string(rune('0'+n)), func(b *testing.B) {
			var lockers []*lock.Engine
			for range n {
				lockers = append(lockers, locker(b, s))
			}
			var next atomic.Int32
			inTurn(b, n, func(ctx context.Context) error {
				l := lockers[int(next.Add(1))%n]
				lease, err := l.Acquire(ctx, "job")
				if err != nil {
					return err
				}
				return lease.Release(ctx)
			})
		})
	}
}

// inTurn has so many do something b.N times together, and reports how evenly.
func inTurn(b *testing.B, n int, do func(context.Context) error) {
	left := atomic.Int64{}
	left.Store(int64(b.N))
	took := make([]int, n)
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(b.Context()); err != nil {
					b.Error(err)
					return
				}
				took[i]++
			}
		})
	}
	all.Wait()
	least, most := took[0], took[0]
	for _, t := range took {
		least, most = min(least, t), max(most, t)
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "handoffs/s")
	b.ReportMetric(float64(least)/float64(max(most, 1)), "least/most")
}
