package pglock_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

func rw(t testing.TB, l lock.Locker) *rwlock.RWLock {
	t.Helper()
	prices, err := rwlock.New(l, "prices")
	must(t, err)
	return prices
}

// TestReadersOutliveACrash of the server: the writer waits for them, and they go on.
func TestReadersOutliveACrash(t *testing.T) {
	s := server(t, "fsync=on", "synchronous_commit=off", "wal_writer_delay=10s")
	a, b := rw(t, locker(t, s)), rw(t, locker(t, s))
	reader, err := a.RLock(t.Context(), lock.TTL(longTTL))
	must(t, err)
	must(t, s.Kill())
	must(t, s.Restart(t.Context()))
	eventually(t, "the server answers, and says who reads", func() bool {
		_, err := b.TryLock(t.Context(), lock.TTL(longTTL))
		if err == nil {
			t.Fatal("a writer beside a reader")
		}
		held, ok := errors.AsType[*lock.HeldError](err)
		return ok && held.Holder.Kind == lock.KindRead
	})
	must(t, reader.Extend(t.Context()))
	must(t, reader.Release(t.Context()))
	writer, err := b.Lock(t.Context(), lock.TTL(longTTL))
	must(t, err)
	if writer.Fence() <= reader.Fence() {
		t.Errorf("the writer has fence %d after a reader with %d", writer.Fence(), reader.Fence())
	}
	must(t, writer.Release(t.Context()))
}

// TestAHungServerLosesReaders in time, and a reader that it grants late holds up no writer for its whole TTL.
func TestAHungServerLosesReaders(t *testing.T) {
	s := server(t)
	l := rw(t, locker(t, s, lock.WithNodeTimeout(time.Second)))
	reader, err := l.RLock(t.Context(), lock.TTL(4*time.Second))
	must(t, err)
	must(t, s.Pause())
	_, err = l.TryRLock(t.Context(), lock.TTL(longTTL))
	wantErr(t, err, lock.ErrNoQuorum, driver.ErrTimeout)
	<-reader.Context().Done()
	must(t, s.Resume())
	eventually(t, "a writer gets the lock, long before the TTL of what came late", func() bool {
		writer, err := l.TryLock(t.Context(), lock.TTL(longTTL))
		return err == nil && writer.Release(t.Context()) == nil
	})
}

// TestReadersAreListed with a fence and a holder each, and leave no rows behind that grow with their number.
func TestReadersAreListed(t *testing.T) {
	s := server(t)
	a, b := rw(t, locker(t, s, lock.WithInstance("a"))), rw(t, locker(t, s, lock.WithInstance("b")))
	db := pool(t, s.URL("postgres"))
	for range 20 {
		first, err := a.RLock(t.Context(), lock.TTL(longTTL))
		must(t, err)
		second, err := b.RLock(t.Context(), lock.TTL(longTTL))
		must(t, err)
		all, err := pglock.ReadHeldLocks(t.Context(), db, pglock.DefaultSchema)
		must(t, err)
		if len(all) != 2 || all[0].Fence != first.Fence() || all[0].Holder.Instance != "a" ||
			all[1].Fence != second.Fence() || all[1].Holder.Instance != "b" || all[1].Holder.Kind != lock.KindRead {
			t.Fatalf("%+v", all)
		}
		must(t, errors.Join(first.Release(t.Context()), second.Release(t.Context())))
	}
	if rows := (calls{t, db}).number("SELECT count(*) FROM lockscope.reader"); rows != 2 {
		t.Errorf("%d rows of readers are left, want those of two at a time", rows)
	}
	db2 := calls{t, db}
	db2.number("WITH old AS (UPDATE lockscope.lock SET fence = 1 RETURNING 1) SELECT count(*) FROM old")
	if n := db2.number("SELECT lockscope.prune('1 day', 100)"); n != 1 {
		t.Errorf("%d locks were forgotten, want one", n)
	}
	if rows := db2.number("SELECT count(*) FROM lockscope.reader"); rows != 0 {
		t.Errorf("%d rows of readers outlive their lock", rows)
	}
}

// TestSlotsInQuarantine: a server that may have forgotten the number of slots takes none until it may vote.
func TestSlotsInQuarantine(t *testing.T) {
	s := server(t)
	c := calls{t, pool(t, s.URL("postgres"))}
	forgotten := "WITH w AS (UPDATE lockscope.memory SET changed = clock_timestamp() - $1::interval RETURNING 1) " +
		"SELECT count(*) FROM w"
	acquire := func(key, token string, slots int) (code int) {
		must(t, c.db.QueryRow(t.Context(), "SELECT code FROM lockscope.acquire_slot('pool', $3, 3600000, $1, $2, '', "+
			"60000, 0, 1, '', NULL, '', 0, 60000, true)", key, token, slots).Scan(&code))
		return code
	}
	extend := "SELECT lockscope.extend_slot('pool', 0, 3, 3600000, 'pool#0', 'a', 60000, true, 1, '', false, 60000, true)"
	known := func() int { return c.number("SELECT lockscope.resize('pool', 0, 0, 3600000)") }
	c.number(forgotten, "0 seconds")
	if code := acquire("pool#0", "a", 3); code != 5 || known() != 0 {
		t.Errorf("in quarantine: code %d, %d slots known", code, known())
	}
	if code := c.number(extend); code != 2 || known() != 0 {
		t.Errorf("a renewal in quarantine: %d, %d slots known", code, known())
	}
	c.number(forgotten, "61 seconds")
	if code := acquire("pool#1", "b", 3); code != 1 || known() != 3 {
		t.Errorf("after it: code %d, %d slots known", code, known())
	}
	if code := acquire("pool#2", "c", 4); code != 6 {
		t.Errorf("another number: code %d", code)
	}
}

// TestSlotsChangeBetweenGrants: a change of the number waits for a grant under way, and the next grant for the change.
func TestSlotsChangeBetweenGrants(t *testing.T) {
	s := server(t)
	c := calls{t, pool(t, s.URL("postgres"))}
	ctx := t.Context()
	const acquire = "SELECT code FROM lockscope.acquire_slot('pool', 3, 3600000, $1, $2, '', 60000, 0, 1, '', NULL, " +
		"'', 0, 60000, false)"
	tx, err := c.db.Begin(ctx)
	must(t, err)
	var code int
	must(t, tx.QueryRow(ctx, acquire, "pool#0", "first").Scan(&code))
	type answer struct {
		known int
		err   error
	}
	resized := make(chan answer, 1)
	go func() {
		var a answer
		a.err = c.db.QueryRow(ctx, "SELECT lockscope.resize('pool', 3, 2, 3600000)").Scan(&a.known)
		resized <- a
	}()
	eventually(t, "the change waits for the grant", func() bool {
		return c.number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == 1
	})
	must(t, tx.Commit(ctx))
	if a := <-resized; a.err != nil || a.known != 3 {
		t.Fatalf("%+v", a)
	}
	if code := c.number(acquire, "pool#2", "late"); code != 6 {
		t.Errorf("a slot that is gone was granted: code %d", code)
	}
	if code := c.number("SELECT lockscope.extend_slot('pool', 2, 3, 3600000, 'pool#2', 'x', 60000, true, 1, '', false, " +
		"60000, false)"); code != -2 {
		t.Errorf("a slot that is gone was extended: %d", code)
	}
}

// TestResizeOfAServerThatIsDown names it, and changes nothing.
func TestResizeOfAServerThatIsDown(t *testing.T) {
	s := server(t)
	l := locker(t, s, lock.WithMaxTTL(longTTL))
	pool, err := semaphore.New(l, "pool", 3)
	must(t, err)
	permit, err := pool.Acquire(t.Context(), lock.TTL(longTTL))
	must(t, err)
	must(t, permit.Release(t.Context()))
	must(t, s.Kill())
	err = l.Resize(t.Context(), "pool", 3, 2)
	unfinished, ok := errors.AsType[*engine.ResizeError](err)
	if !ok || len(unfinished.Nodes) != 1 || unfinished.Nodes[0].Err == nil {
		t.Fatalf("with a server that is down: %v", err)
	}
	must(t, s.Restart(t.Context()))
	for _, k := range []int{2, 3} {
		eventually(t, fmt.Sprintf("%d slots", k), func() bool {
			other, err := semaphore.New(l, "pool", k)
			must(t, err)
			_, err = other.TryAcquire(t.Context(), lock.TTL(longTTL))
			if k == 3 {
				return err == nil
			}
			e, ok := errors.AsType[*lock.SlotsError](err)
			return ok && e.Other == 3
		})
	}
}
