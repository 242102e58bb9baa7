package pglock_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// calls asks the functions as the driver does.
type calls struct {
	t  *testing.T
	db *pgxpool.Pool
}

func (c calls) acquire(token string, ttl time.Duration) (code int, fence int64) {
	c.t.Helper()
	must(c.t, c.db.QueryRow(c.t.Context(),
		"SELECT code, fence FROM lockscope.acquire('k', $1, '', $2, 0, 1, '', NULL, '', 0, 0, false)",
		token, ttl.Milliseconds()).Scan(&code, &fence))
	return code, fence
}

func (c calls) number(sql string, args ...any) (n int) {
	c.t.Helper()
	must(c.t, c.db.QueryRow(c.t.Context(), sql, args...).Scan(&n))
	return n
}

// TestTombstonesBarTheQueue: an acquire that arrives after its caller gave up, while another one holds the lock, leaves no
// waiter behind, and no bar.
func TestTombstonesBarTheQueue(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("postgres"))}
	if code, _ := c.acquire("holder", time.Minute); code != 1 {
		t.Fatalf("code %d", code)
	}
	c.number("SELECT what FROM lockscope.release('k', 'late', 60000, 0, '', 0, '')")
	late := "SELECT code FROM lockscope.acquire('k', 'late', '', 60000, 0, 1, 'w', 0, '', 0, 0, false)"
	if code := c.number(late); code != 0 {
		t.Errorf("a late acquire: code %d", code)
	}
	if code := c.shared("k", "late", true, time.Minute); code != 0 {
		t.Errorf("a late writer: code %d", code)
	}
	if n := c.number("SELECT count(*)::int FROM lockscope.waiter"); n != 0 {
		t.Errorf("%d waiters", n)
	}
}

// TestTombstones: an acquire that arrives after the release of its attempt has no effect, nor has a refill; and a token
// that has the lock gets the same grant again.
func TestTombstones(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("service"))}
	release := "SELECT what FROM lockscope.release('k', $1, $2, 0, '', 0, '')"
	if what := c.number(release, "late", 60_000); what != 0 {
		t.Errorf("a lock that nobody has was released: %d", what)
	}
	if code, _ := c.acquire("late", time.Minute); code != 3 {
		t.Errorf("granted after its release: code %d", code)
	}
	if code := c.number("SELECT lockscope.extend('k', 'late', 60000, true, 1, '', false)"); code != 0 {
		t.Errorf("put back after its release: %d", code)
	}
	code, first := c.acquire("mine", time.Minute)
	again, second := c.acquire("mine", time.Minute)
	if code != 1 || again != 1 || first != second {
		t.Errorf("codes %d and %d, fences %d and %d", code, again, first, second)
	}
	if code, _ := c.acquire("other", time.Minute); code != 0 {
		t.Errorf("granted twice: %d", code)
	}
	if what := c.number(release, "other", 0); what != 2 {
		t.Errorf("another's lock was released: %d", what)
	}
	if what := c.number(release, "mine", 0); what != 1 {
		t.Errorf("its own was not: %d", what)
	}
	if code, third := c.acquire("other", time.Minute); code != 1 || third <= first {
		t.Errorf("code %d, fence %d after %d", code, third, first)
	}
}

// TestExtending: what ran out is put back without a vote, if nobody has taken it.
func TestExtending(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("service"))}
	_, fence := c.acquire("mine", time.Millisecond)
	extend := func(token string, refill bool) int {
		return c.number("SELECT lockscope.extend('k', $1, 60000, $2, $3, '', false)", token, refill, fence)
	}
	eventually(t, "it runs out", func() bool { return extend("mine", false) == 0 })
	for i, want := range []int{2, 1} {
		if code := extend("mine", true); code != want {
			t.Errorf("extend %d: %d, want %d", i, code, want)
		}
	}
	if code := extend("other", true); code != -1 {
		t.Errorf("another's lock was extended: %d", code)
	}
}

// TestExtendingWhatIsKept: a renewal that comes after the release leaves a lock alone that is kept for its minimum hold.
func TestExtendingWhatIsKept(t *testing.T) {
	c := calls{t, pool(t, server(t).URL("postgres"))}
	c.acquire("mine", time.Minute)
	extend := "SELECT lockscope.extend('k', 'mine', $1, false, 0, $2, true)"
	left := "SELECT extract(epoch FROM expires - clock_timestamp())::int FROM lockscope.lock WHERE key = 'k'"
	for _, step := range []struct {
		holder       string
		ms           int
		code, passed int
	}{{"a|1|||||||done|", 300_000, 1, 300}, {"a|1|", 60_000, -1, 300}, {"a|1|||||||done|", 200_000, 1, 200}} {
		if code := c.number(extend, step.ms, step.holder); code != step.code {
			t.Errorf("%q: code %d", step.holder, code)
		}
		if got := c.number(left); got > step.passed || got < step.passed-90 {
			t.Errorf("%q: %d s left", step.holder, got)
		}
	}
}

// handOff has a lock change hands, again and again, and returns how much space it takes then.
func (c calls) handOff(times int) (kilobytes int) {
	c.t.Helper()
	acquire := "SELECT code FROM lockscope.acquire('k', $1, '', 60000, 0, 1, $2, 0, '', 1000, 0, false)"
	tokens, waiters := [2]string{"token of a", "token of b"}, [2]string{"a", "b"}
	c.number(acquire, tokens[0], waiters[0])
	for i := range times {
		holder, next := i%2, (i+1)%2
		if code := c.number(acquire, tokens[next], waiters[next]); code != 0 {
			c.t.Fatalf("not held: code %d", code)
		}
		c.number("SELECT what FROM lockscope.release('k', $1, 0, 1000, '', 0, '')", tokens[holder])
		if code := c.number(acquire, tokens[next], waiters[next]); code != 1 {
			c.t.Fatalf("not granted to who was named: code %d", code)
		}
	}
	c.number("SELECT what FROM lockscope.release('k', $1, 0, 0, '', 0, '')", tokens[times%2])
	for _, table := range []string{"lock", "waiter"} {
		kilobytes = max(kilobytes, c.number("SELECT (pg_table_size('lockscope."+table+
			"') + pg_indexes_size('lockscope."+table+"')) / 1024"))
	}
	return kilobytes
}

// TestHandOffsLeaveNothingBehind: a lock that changes hands all the time must not get slower until the next vacuum.
// What a transaction could still see stays until that ends, but for one in another database.
func TestHandOffsLeaveNothingBehind(t *testing.T) {
	s := server(t)
	c := calls{t, pool(t, s.URL("postgres"))}
	_, err := c.db.Exec(t.Context(), "CREATE DATABASE elsewhere")
	must(t, err)
	snapshot := func(database string) pgx.Tx {
		t.Helper()
		config, err := pgx.ParseConfig(s.URL("postgres"))
		must(t, err)
		config.Database = database
		conn, err := pgx.ConnectConfig(t.Context(), config)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		must(t, err)
		_, err = tx.Exec(t.Context(), "SELECT count(*) FROM pg_class")
		must(t, err)
		return tx
	}
	const most, times = 128, 1000
	snapshot("elsewhere")
	if size := c.handOff(times); size > most {
		t.Errorf("one lock takes %d kB", size)
	}
	here := snapshot("postgres")
	if size := c.handOff(times); size <= most {
		t.Errorf("with a transaction of this database open it takes %d kB: the documentation is wrong", size)
	}
	must(t, here.Rollback(t.Context()))
}
