package pglock_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/compare"
	"github.com/lockscope/lockscope/lock/pglock"
)

// floor is what is needed at least for a lock that outlives a crash: a commit that waits for the disk and one that does
// not. servers are the URLs of the owner and of a service.
func floor(b *testing.B, servers []string) compare.Pair {
	db := pool(b, servers[0])
	_,
		err := db.Exec(b.Context(),
		"CREATE TABLE floor (key text PRIMARY KEY, n bigint) WITH (fillfactor = 50); INSERT INTO floor VALUES ('k', "+
			"0);CREATE FUNCTION up() RETURNS bigint LANGUAGE sql AS $$ UPDATE floor SET n = n + 1 WHERE key = 'k' "+
			"RETURNING n $$;"+
			"CREATE FUNCTION lazy() RETURNS bigint LANGUAGE sql AS $$ SELECT set_config('synchronous_commit', 'off', "+
			"true); UPDATE floor SET n = n + 1 WHERE key = 'k' RETURNING n $$")
	must(b, err)
	return func(_ string, work func()) error {
		var n int64
		if err := db.QueryRow(context.Background(), "SELECT up()").Scan(&n); err != nil {
			return err
		}
		work()
		return db.QueryRow(context.Background(), "SELECT lazy()").Scan(&n)
	}
}

// advisory is a lock of a session, in memory: it ends with the server.
func advisory(b *testing.B, servers []string) compare.Pair {
	conn := connection(b, servers[0])
	return func(resource string, work func()) error {
		if _, err := conn.Exec(context.Background(), "SELECT pg_advisory_lock(hashtext($1))", resource); err != nil {
			return err
		}
		work()
		_, err := conn.Exec(context.Background(), "SELECT pg_advisory_unlock(hashtext($1))", resource)
		return err
	}
}

// row is a lock of a row until the commit of who has changed it, which waits for the disk.
func row(b *testing.B, servers []string) compare.Pair {
	conn := connection(b, servers[0])
	// Of two at a time one may fail.
	_, _ = conn.Exec(b.Context(),
		"CREATE TABLE IF NOT EXISTS rows (key text PRIMARY KEY, n bigint) WITH (fillfactor = 50)")
	return func(resource string, work func()) error {
		ctx := context.Background()
		if _, err := conn.Exec(ctx, "INSERT INTO rows VALUES ($1, 0) ON CONFLICT DO NOTHING", resource); err != nil {
			return err
		}
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT n FROM rows WHERE key = $1 FOR UPDATE", resource); err != nil {
			return err
		}
		work()
		if _, err := tx.Exec(ctx, "UPDATE rows SET n = n + 1 WHERE key = $1", resource); err != nil {
			return err
		}
		return tx.Commit(ctx)
	}
}

func ours(b *testing.B, servers []string) compare.Pair {
	l := open(b, servers)
	return func(resource string, work func()) error {
		return lock.Do(context.Background(), l, resource,
			func(context.Context, lock.Lease) error { work(); return nil })
	}
}

func connection(b *testing.B, url string) *pgxpool.Conn {
	conn, err := pool(b, url).Acquire(b.Context())
	must(b, err)
	b.Cleanup(conn.Release)
	return conn
}

var peers = []compare.Peer{{Name: "advisory", Client: advisory}, {Name: "row", Client: row},
	{Name: "pglock", Client: ours}}

func durable(b *testing.B) []string {
	s := server(b, "fsync=on")
	return []string{s.URL("postgres"), s.URL("service")}
}

// BenchmarkPair is a lock that nobody contends for.
func BenchmarkPair(b *testing.B) {
	compare.Pairs(b, durable(b), append([]compare.Peer{{Name: "floor", Client: floor}}, peers...))
}

// BenchmarkConstructs is a reader, a writer and a permit that nobody contends for, beside a lock.
func BenchmarkConstructs(b *testing.B) {
	compare.Pairs(b, durable(b), compare.Constructs(open))
}

func open(b *testing.B, servers []string) lock.Locker {
	l, err := pglock.Open(servers[1], lock.WithNodeTimeout(2*time.Second))
	must(b, err)
	b.Cleanup(func() { must(b, l.Close()) })
	return l
}

// BenchmarkPermitHandOffs is how often a second the permits of a semaphore change hands.
func BenchmarkPermitHandOffs(b *testing.B) {
	servers := durable(b)
	compare.PermitHandOffs(b, func(b *testing.B) lock.Locker { return open(b, servers) })
}

// BenchmarkHandOffs is how often a second the lock changes hands, between processes that want it all the time.
func BenchmarkHandOffs(b *testing.B) {
	compare.HandOffs(b, "BenchmarkContender", durable(b), peers)
}

// BenchmarkContender is one of these.
func BenchmarkContender(b *testing.B) { compare.Contender(b, peers) }
