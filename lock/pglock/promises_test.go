package pglock_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// shared asks for a read/write lock; a writer that is refused joins the queue and bars readers, each for bar.
func (c calls) shared(key, token string, writes bool, bar time.Duration) (code int) {
	c.t.Helper()
	return c.number("SELECT code FROM lockscope.acquire_shared($1, $2, $3, '', 60000, 0, $2, 0, $3, '', 0, $4, 60000, "+
		"true)", key, token, writes, bar.Milliseconds())
}

func (c calls) releaseShared(key, token string, writes bool, tombstone, window time.Duration) (what int) {
	c.t.Helper()
	return c.number("SELECT what FROM lockscope.release_shared($1, $2, $3, $4, $5, '', 0, '')",
		key, token, writes, tombstone.Milliseconds(), window.Milliseconds())
}

// want checks what a call comes to.
func (c calls) want(what string, got, want int) {
	c.t.Helper()
	if got != want {
		c.t.Errorf("%s: code %d, want %d", what, got, want)
	}
}

// TestPuttingBack: what ran out is not put back beside another holder, nor in front of a writer that waits.
func TestPuttingBack(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("service"))}
	lease := func(key string) int {
		return c.number("SELECT lockscope.extend($1, 'late', 60000, true, 1, '', false)", key)
	}
	reader := func(key string) int {
		return c.number("SELECT lockscope.extend_reader($1, 'late', 60000, true, 1, '')", key)
	}
	c.want("a reader", c.shared("read", "r", false, 0), 1)
	c.want("a lease beside a reader", lease("read"), -1)

	c.want("a writer", c.shared("written", "w", true, 0), 1)
	c.want("a reader beside a writer", reader("written"), -1)

	c.want("a reader", c.shared("kept", "r", false, 0), 1)
	c.want("a waiter", c.shared("kept", "w", true, 0), 0)
	c.want("the reader's release", c.releaseShared("kept", "r", false, 0, time.Minute), 1)
	c.want("a reader, while the lock is kept for a waiter", reader("kept"), 0)

	c.want("a reader", c.shared("barred", "r", false, 0), 1)
	c.want("a writer that bars", c.shared("barred", "w", true, time.Minute), 0)
	c.want("the reader's release", c.releaseShared("barred", "r", false, 0, 0), 1)
	c.want("a reader, while a writer bars readers", reader("barred"), 0)
	c.want("the writer", c.shared("barred", "w", true, time.Minute), 1)
	c.want("the writer's release", c.releaseShared("barred", "w", true, 0, 0), 1)
	c.want("a reader after the writer", c.shared("barred", "r", false, 0), 1)

	c.want("a reader of a lock that nobody wants", reader("nobody's"), 2)
	c.want("a release before its acquire", c.releaseShared("free", "late", false, time.Minute, 0), 0)
	c.want("a reader that was given up", reader("free"), 0)
	c.want("its acquire", c.shared("free", "late", false, 0), 3)
	c.want("an acquire of a writer", c.shared("free", "late", true, 0), 3)
}

// TestReadersAndObserversInQuarantine: a server that may have forgotten a lock grants nobody a read/write lock, and
// says of no lock that it is free.
func TestReadersAndObserversInQuarantine(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("postgres"))}
	forgotten := func(since string) {
		c.number("WITH w AS (UPDATE lockscope.memory SET changed = clock_timestamp() - $1::interval RETURNING 1) "+
			"SELECT count(*) FROM w", since)
	}
	forgotten("0 seconds")
	c.want("a reader", c.shared("k", "r", false, 0), 5)
	c.want("a writer", c.shared("k", "w", true, 0), 5)
	c.want("a peek", c.number("SELECT code FROM lockscope.peek('k', 60000, true)"), 5)
	c.want("a revoke", c.number("SELECT code FROM lockscope.revoke_lease('k', '', '', 0, 60000, true)"), 5)
	const readers = "SELECT code FROM lockscope.revoke_readers('k', '{}', '', 0, 60000, true)"
	c.want("a revoke of readers", c.number(readers), 5)
	forgotten("61 seconds")
	c.want("a revoke of readers after it", c.number(readers), 0)
	c.want("a peek after it", c.number("SELECT code FROM lockscope.peek('k', 60000, true)"), 1)
	c.want("a reader after it", c.shared("k", "r", false, 0), 1)
}

// TestARunIsNotGrantedAgain: the next grant has a fence above all that the holder may have handed over.
func TestARunIsNotGrantedAgain(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("service"))}
	const hour = 3_600_000_000 // fences count microseconds
	grant := func(token string) (fence, run int64) {
		must(t, c.db.QueryRow(t.Context(), "SELECT fence, run FROM lockscope.acquire('k', $1, '', 60000, 0, $2, '', NULL, "+
			"'', 0, 0, false)", token, hour).Scan(&fence, &run))
		return fence, run
	}
	first, run := grant("a")
	c.want("the release", c.number("SELECT what FROM lockscope.release('k', 'a', 0, 0, '', 0, '')"), 1)
	if next, _ := grant("b"); run != hour || next < first+run {
		t.Errorf("fence %d after a run of %d from %d", next, run, first)
	}
}

// TestANamedWaiterThatLeaves passes on that the lock is kept for it.
func TestANamedWaiterThatLeaves(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("postgres"))}
	const acquire = "SELECT code FROM lockscope.acquire('k', $1, '', 60000, 0, 1, $1, 0, '', 60000, 0, false)"
	keptFor := func(key, waiter string) {
		t.Helper()
		n := c.number("SELECT count(*) FROM lockscope.lock WHERE key = $1 AND next = $2", key, waiter)
		c.want("kept for "+waiter, n, 1)
	}
	c.want("the holder", c.number(acquire, "a"), 1)
	c.want("a waiter", c.number(acquire, "b"), 0)
	c.want("another", c.number(acquire, "c"), 0)
	c.number("SELECT what FROM lockscope.release('k', 'a', 0, 60000, '', 0, '')")
	keptFor("k", "b")
	c.number("SELECT lockscope.leave('k', 'b', 60000)::int")
	keptFor("k", "c")

	c.want("a reader", c.shared("rw", "r", false, 0), 1)
	c.want("a writer", c.shared("rw", "v", true, time.Minute), 0)
	c.want("another", c.shared("rw", "w", true, time.Minute), 0)
	c.want("the reader's release", c.releaseShared("rw", "r", false, 0, time.Minute), 1)
	keptFor("rw", "v")
	c.number("SELECT lockscope.leave_shared('rw', 'v', 60000)::int")
	keptFor("rw", "w")
}

// TestPruningKeepsWhatIsHeld for longer than locks are remembered: a fence is as old as its grant.
func TestPruningKeepsWhatIsHeld(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("postgres"))}
	const prune = "SELECT lockscope.prune('1 day', 100)"
	if code, _ := c.acquire("mine", time.Minute); code != 1 {
		t.Fatalf("code %d", code)
	}
	c.want("a reader", c.shared("read", "r", false, 0), 1)
	c.number("WITH w AS (UPDATE lockscope.lock SET fence = 1000 RETURNING 1) SELECT count(*) FROM w")
	c.number("WITH w AS (UPDATE lockscope.memory SET fence = 0 RETURNING 1) SELECT count(*) FROM w")
	c.want("forgotten, of what is held", c.number(prune), 0)
	c.want("the release", c.number("SELECT what FROM lockscope.release('k', 'mine', 0, 0, '', 0, '')"), 1)
	c.want("forgotten, of what was released", c.number(prune), 1)
	c.want("the fence that goes on from there", c.number("SELECT fence FROM lockscope.memory"), 1000)
}

// TestACrashKeepsWhatWasAnswered beside grants, although the server does not wait for the disk by its own
// configuration.
func TestACrashKeepsWhatWasAnswered(t *testing.T) {
	s := server(t, "fsync=on", "synchronous_commit=off", "wal_writer_delay=10s")
	c := calls{t, pool(t, s.URL("postgres"))}
	const hour = "3600000"
	acts := []struct{ what, act, kept string }{
		{"a renewal", "SELECT lockscope.extend('k', 'mine', " + hour + ", false, 1, '', false)",
			"SELECT count(*) FROM lockscope.lock WHERE key = 'k' AND expires > clock_timestamp() + interval '30 minutes'"},
		{"a reader's renewal", "SELECT lockscope.extend_reader('read', 'r', " + hour + ", false, 1, '')",
			"SELECT count(*) FROM lockscope.reader WHERE expires > clock_timestamp() + interval '30 minutes'"},
		{"a mark", "SELECT 1 FROM lockscope.revoke_lease('k', encode(sha256('mine'), 'hex'), 'ops|0|why', 60000, 0, false)",
			"SELECT count(*) FROM lockscope.lock WHERE mark = 'ops|0|why'"},
		{"a reader's mark", "SELECT cardinality(named) FROM lockscope.revoke_readers('read', " +
			"array[encode(sha256('r'), 'hex')], 'ops|0|why', 60000, 0, false)",
			"SELECT count(*) FROM lockscope.reader WHERE mark = 'ops|0|why'"},
		{"a number of slots", "SELECT lockscope.resize('pool', 3, 1, " + hour + ") / 3",
			"SELECT count(*) FROM lockscope.semaphore WHERE slots = 1"},
	}
	if code, _ := c.acquire("mine", 10*time.Minute); code != 1 {
		t.Fatalf("code %d", code)
	}
	c.want("a number of slots", c.number("SELECT lockscope.resize('pool', 0, 3, "+hour+")"), 0)
	c.want("a reader", c.shared("read", "r", false, 0), 1)
	for _, a := range acts {
		c.want(a.what, c.number(a.act), 1)
		must(t, s.Kill())
		must(t, s.Restart(t.Context()))
		kept := 0
		eventually(t, "the server answers", func() bool {
			return c.db.QueryRow(context.WithoutCancel(t.Context()), a.kept, pgx.QueryExecModeExec).Scan(&kept) == nil
		})
		c.want(a.what+", after the crash", kept, 1)
	}
}
