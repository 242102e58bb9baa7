package pglock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/pglock"
)

const (
	longTTL  = 30 * time.Second
	waitTime = 30 * time.Second
)

func acquire(t testing.TB, l lock.Locker, resource string, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(context.Background(), resource,
		append([]lock.AcquireOption{lock.TTL(longTTL), lock.MaxWait(waitTime)}, opts...)...)
	must(t, err)
	return lease
}

func wantErr(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("%v; want %v", err, target)
		}
	}
}

func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitTime); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", waitTime, what)
		}
	}
}

// TestACrashKeepsWhatWasGranted, although the server does not wait for the disk by its own configuration.
func TestACrashKeepsWhatWasGranted(t *testing.T) {
	s := server(t, "fsync=on", "synchronous_commit=off", "wal_writer_delay=10s")
	l, other := locker(t, s), locker(t, s)
	lease := acquire(t, l, "job")
	fence := lease.Fence()
	must(t, s.Kill())
	must(t, s.Restart(t.Context()))
	eventually(t, "the server answers, and says who holds it", func() bool {
		_, err := other.Acquire(t.Context(), "job", lock.NoWait())
		if err == nil {
			t.Fatal("granted twice")
		}
		return errors.Is(err, lock.ErrHeld)
	})
	must(t, lease.Extend(t.Context()))
	must(t, lease.Release(t.Context()))
	if next := acquire(t, other, "job"); next.Fence() <= fence {
		t.Errorf("fence %d after %d", next.Fence(), fence)
	}
}

// TestAHungServer is not waited for longer than the node timeout, and takes no lock with it: what it does late has no
// effect.
func TestAHungServer(t *testing.T) {
	s := server(t)
	l := locker(t, s, lock.WithNodeTimeout(time.Second))
	held := acquire(t, l, "held", lock.TTL(4*time.Second))
	must(t, acquire(t, l, "job").Release(t.Context()))
	must(t, s.Pause())
	for range 3 {
		began := time.Now()
		_, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		wantErr(t, err, lock.ErrNoQuorum) // no answer in time, or not asked while earlier calls have none
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	}
	<-held.Context().Done()
	wantErr(t, context.Cause(held.Context()), lock.ErrLost)
	must(t, s.Resume())
	eventually(t, "the lock can be had, long before the TTL of what came late", func() bool {
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
		return err == nil && lease.Release(t.Context()) == nil
	})
}

// contend has callers of each locker take one lock in turn, and finds two at a time.
func contend(t *testing.T, lockers []lock.Locker, callers, times int) {
	t.Helper()
	var mu sync.Mutex
	var last uint64
	inside := 0
	var all sync.WaitGroup
	for _, l := range lockers {
		for range callers {
			all.Go(func() {
				for range times {
					err := lock.Do(t.Context(), l, "contended", func(_ context.Context, lease lock.Lease) error {
						mu.Lock()
						defer mu.Unlock()
						if inside++; inside > 1 {
							t.Error("two at a time")
						}
						if lease.Fence() <= last {
							t.Errorf("fence %d after %d", lease.Fence(), last)
						}
						last = lease.Fence()
						inside--
						return nil
					}, lock.MaxWait(waitTime))
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
}

// TestHandOffsAreToldNotPolled: a waiter of another process has the lock soon after its release, though it would look
// only in a minute.
func TestHandOffsAreToldNotPolled(t *testing.T) {
	s := server(t)
	var lockers []lock.Locker
	for range 3 {
		lockers = append(lockers, locker(t, s, lock.WithPollInterval(time.Minute)))
	}
	began := time.Now()
	contend(t, lockers, 1, 20)
	if took := time.Since(began); took > waitTime {
		t.Errorf("60 hand-offs took %v", took)
	}
}

// TestOthersSeeNoTokens: the role that takes locks can read who holds them, and nothing to give them back with.
func TestOthersSeeNoTokens(t *testing.T) {
	s := server(t)
	lease := acquire(t, locker(t, s, lock.WithInstance("orders-1")), "job")
	db := pool(t, s.URL("service"))
	var key, holder string
	must(t, db.QueryRow(t.Context(), "SELECT key, holder FROM lockscope.held").Scan(&key, &holder))
	if key != "lock:job" || !strings.HasPrefix(holder, "orders-1|") {
		t.Errorf("%q is held by %q", key, holder)
	}
	for _, sql := range []string{"SELECT token FROM lockscope.lock", "DELETE FROM lockscope.lock",
		"SELECT lockscope.durable()"} {
		if _, err := db.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	must(t, lease.Release(t.Context()))
}

// TestWhatStandsInTheWay is told with its class and a remedy, and no password.
func TestWhatStandsInTheWay(t *testing.T) {
	s := server(t)
	db := pool(t, s.URL("postgres"))
	for _, sql := range []string{
		"CREATE ROLE stranger LOGIN", "CREATE ROLE repeatable LOGIN",
		"ALTER ROLE repeatable SET default_transaction_isolation = 'repeatable read'",
		"CREATE ROLE reader LOGIN", "ALTER ROLE reader SET default_transaction_read_only = on",
	} {
		_, err := db.Exec(t.Context(), sql)
		must(t, err)
	}
	must(t, pglock.Grant(t.Context(), db, pglock.DefaultSchema, "repeatable"))
	must(t, pglock.Grant(t.Context(), db, pglock.DefaultSchema, "reader"))
	must(t, pglock.Migrate(t.Context(), db, "other"))
	for name, c := range map[string]struct {
		url    string
		opts   []lock.Option
		want   error
		remedy string
	}{
		"no rights": {s.URL("stranger"), nil, driver.ErrDenied, "Grant"},
		"no such role": {strings.Replace(s.URL("nobody"), "nobody@", "nobody:s3cr3t@", 1), nil, driver.ErrDenied,
			""},
		"no schema": {s.URL("service"), []lock.Option{pglock.WithSchema("missing")}, driver.ErrMisconfigured,
			"Migrate"},
		"schema of others": {s.URL("service"), []lock.Option{pglock.WithSchema("other")}, driver.ErrDenied, "Grant"},
		"snapshots":        {s.URL("repeatable"), nil, driver.ErrMisconfigured, "read committed"},
		"read-only":        {s.URL("reader"), nil, driver.ErrReplica, "primary"},
		"nobody is there":  {"postgres://service:s3cr3t@127.0.0.1:1/postgres", nil, driver.ErrUnreachable, ""},
		"no such database": {strings.Replace(s.URL("service"), "/postgres?", "/missing?", 1), nil,
			driver.ErrMisconfigured, ""},
		"a name, not an IP": {"postgres://service@no.such.host.invalid/postgres", nil, driver.ErrUnreachable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := pglock.Open(c.url, append(c.opts, lock.WithNodeTimeout(2*time.Second))...)
			must(t, err)
			defer func() { must(t, l.Close()) }()
			_, err = l.Acquire(t.Context(), "job", lock.NoWait())
			wantErr(t, err, lock.ErrNoQuorum, c.want)
			if text := err.Error(); !strings.Contains(text, c.remedy) || strings.Contains(text, "s3cr3t") {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestMigrate by several at one time, again, and by an older version.
func TestMigrate(t *testing.T) {
	s := server(t)
	l := locker(t, s)
	lease := acquire(t, l, "job")
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := pglock.Migrate(t.Context(), pool(t, s.URL("postgres")), pglock.DefaultSchema); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	must(t, lease.Extend(t.Context()))
	db := pool(t, s.URL("postgres"))
	must(t, pglock.Grant(t.Context(), db, pglock.DefaultSchema, "service"))
	must(t, lease.Release(t.Context()))
	_, err := db.Exec(t.Context(), "INSERT INTO lockscope.migration (version) VALUES (99)")
	must(t, err)
	if err := pglock.Migrate(t.Context(), db, pglock.DefaultSchema); err == nil ||
		!strings.Contains(err.Error(), "version 99") {
		t.Errorf("%v", err)
	}
	for _, schema := range []string{"", "Quoted", `a"; DROP`, strings.Repeat("a", 64)} {
		wantErr(t, pglock.Migrate(t.Context(), db, schema), lock.ErrInvalidOption)
	}
}

// TestPruningKeepsFences of locks that nobody has had for long, also if the clients' clocks were set back since.
func TestPruningKeepsFences(t *testing.T) {
	s := server(t)
	l := locker(t, s)
	db := pool(t, s.URL("postgres"))
	for i := range 5 {
		must(t, acquire(t, l, fmt.Sprint("old:", i)).Release(t.Context()))
	}
	held, waited := acquire(t, l, "held"), acquire(t, l, "young")
	must(t, waited.Release(t.Context()))
	var high uint64
	_, err := db.Exec(t.Context(), "UPDATE lockscope.lock SET fence = 1000 WHERE key LIKE 'lock:old:%'")
	must(t, err)
	_, err = db.Exec(t.Context(), "UPDATE lockscope.memory SET fence = 0")
	must(t, err)
	must(t, db.QueryRow(t.Context(), "SELECT lockscope.prune('1 day', 3)").Scan(&high))
	if high != 3 {
		t.Errorf("%d were forgotten, want 3 of at most 3", high)
	}
	must(t, db.QueryRow(t.Context(), "SELECT lockscope.prune('1 day', 100)").Scan(&high))
	var left int
	must(t, db.QueryRow(t.Context(), "SELECT count(*) FROM lockscope.lock").Scan(&left))
	if high != 2 || left != 2 {
		t.Errorf("%d were forgotten, %d are left; want 2 and 2", high, left)
	}
	const far = 8_000_000_000_000_000 // later than any clock
	_, err = db.Exec(t.Context(), "UPDATE lockscope.memory SET fence = $1", far)
	must(t, err)
	if fence := acquire(t, l, "old:1").Fence(); fence != far+1 {
		t.Errorf("the fence is %d, want %d", fence, uint64(far+1))
	}
	must(t, held.Release(t.Context()))
}
