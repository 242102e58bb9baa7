package rwlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

func TestReadersShareAndWritersDoNot(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, nodes)
			a, b := f.process("a"), f.process("b")
			first, second, third := f.read(a), f.read(b), f.read(a)
			_, err := b.TryLock(t.Context())
			held, ok := errors.AsType[*lock.HeldError](err)
			if !ok || held.Holder.Instance == "" || held.Holder.Kind != lock.KindRead {
				t.Errorf("%d nodes: a writer beside readers: %v", nodes, err)
			}
			for _, l := range []lock.Lease{first, second, third} {
				f.release(l)
			}
			writer, err := b.TryLock(t.Context())
			must(t, err)
			for _, try := range []func(context.Context, ...lock.AcquireOption) (lock.Lease, error){a.TryRLock, a.TryLock} {
				_, err := try(t.Context())
				if held, ok := errors.AsType[*lock.HeldError](err); !ok || held.Holder.Instance != "b" {
					t.Errorf("%d nodes: beside a writer: %v", nodes, err)
				}
			}
			f.release(writer)
			f.release(f.read(a))
		})
	}
}

// TestFences of writers rise above all before; those of readers reach the last writer's.
func TestFences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := f.process("a")
		last := uint64(0)
		for range 3 {
			w := f.write(a)
			f.release(w)
			r, s := f.read(a), f.read(a)
			if w.Fence() <= last || r.Fence() < w.Fence() || s.Fence() < w.Fence() {
				t.Errorf("after %d: writer %d, readers %d and %d", last, w.Fence(), r.Fence(), s.Fence())
			}
			last = max(r.Fence(), s.Fence())
			f.release(r)
			f.release(s)
		}
	})
}

// TestEachReaderHasItsOwnExpiry: a short reader does not end a long one, and a writer waits for the long one only.
func TestEachReaderHasItsOwnExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a, b := f.process("a"), f.process("b")
		long := f.read(a, lock.TTL(20*time.Second), lock.NoRenew())
		f.read(b, lock.TTL(2*time.Second), lock.NoRenew())
		time.Sleep(3 * time.Second)
		if _, err := b.TryLock(t.Context()); !errors.Is(err, lock.ErrHeld) || long.Context().Err() != nil {
			t.Errorf("beside the long reader: %v, %v", err, context.Cause(long.Context()))
		}
		began := time.Now()
		w := f.write(b)
		if waited := time.Since(began); waited < 16*time.Second || waited > 18*time.Second {
			t.Errorf("the writer waited %v for what was left of 20s", waited)
		}
		f.release(w)
	})
}

// TestReleasedReaderIsNotWaitedFor: what is left of the lock is the time of the readers that are left.
func TestReleasedReaderIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a, b := f.process("a"), f.process("b")
		long := f.read(a, lock.TTL(time.Minute), lock.NoRenew())
		f.read(b, lock.TTL(2*time.Second), lock.NoRenew())
		f.release(long)
		_, err := b.TryLock(t.Context())
		if held, ok := errors.AsType[*lock.HeldError](err); !ok || held.Remaining > 2*time.Second {
			t.Errorf("%v; for at most 2s expected", err)
		}
		time.Sleep(3 * time.Second)
		w, err := b.TryLock(t.Context())
		must(t, err)
		f.release(w)
	})
}

func TestUpgradeIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		l := f.locker("a")
		rw, other := of(t, l), of(t, f.locker("the same, once more"))
		r := f.read(rw)
		f.nodes.NoQuorum() // whoever asks the nodes fails otherwise
		for _, w := range []*rwlock.RWLock{rw, other} {
			_, err := w.Lock(r.Context())
			if !errors.Is(err, rwlock.ErrUpgrade) || !errors.Is(err, lock.ErrInvalidOption) ||
				!strings.Contains(err.Error(), `"prices"`) {
				t.Errorf("upgrade: %v", err)
			}
		}
		f.nodes.Recover()
		another, err := rwlock.New(l, "stock")
		must(t, err)
		w, err := another.Lock(r.Context())
		must(t, err)
		f.release(w)
		f.release(r)
		f.release(f.write(rw))
	})
}

// TestDo runs work under either lock, and reports a loss.
func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		l := f.locker("a")
		rw := of(t, l)
		failure := errors.New("no prices")
		for _, do := range []func(context.Context, func(context.Context, lock.Lease) error,
			...lock.AcquireOption) error{rw.Read, rw.Write} {
			must(t, do(t.Context(), func(ctx context.Context, lease lock.Lease) error {
				if held := lock.HeldLeases(ctx); len(held) != 1 || held[0].Fence != lease.Fence() {
					t.Errorf("%v are held", held)
				}
				return nil
			}))
			err := do(t.Context(), func(context.Context, lock.Lease) error { return failure })
			if !errors.Is(err, failure) {
				t.Error(err)
			}
			err = do(t.Context(), func(context.Context, lock.Lease) error { return l.Lose("prices") })
			if !errors.Is(err, lock.ErrLost) {
				t.Errorf("loss: %v", err)
			}
		}
		f.release(f.write(rw))
	})
}

// TestReentrant: a caller that reads can read again while a writer waits, and still cannot write.
// TestDetached: the leases outlive the context of their calls, and readers share.
func TestDetached(t *testing.T) { synctest.Test(t, testDetached) }

func testDetached(t *testing.T) {
	f := newFleet(t, 3)
	l := f.process("a")
	ctx, cancel := context.WithCancel(t.Context())
	for range 2 {
		reader, err := l.RLockDetached(ctx, lock.NoWait())
		must(t, err)
		defer func() {
			must(t, reader.Context().Err()) // ctx has ended
			f.release(reader)
		}()
		_, err = l.LockDetached(ctx, lock.NoWait())
		if !errors.Is(err, lock.ErrHeld) {
			t.Errorf("a writer beside readers: %v", err)
		}
	}
	cancel()
	if _, err := l.LockDetached(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ctx has ended: %v", err)
	}
}

func TestReentrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		reader, writer := of(t, lock.Reentrant(f.locker("a"))), f.process("b")
		outer := f.read(reader)
		wrote := make(chan error, 1)
		go func() {
			w, err := writer.Lock(t.Context())
			if err == nil {
				err = w.Release(t.Context())
			}
			wrote <- err
		}()
		time.Sleep(time.Second)
		inner, err := reader.RLock(outer.Context(), lock.MaxWait(10*time.Second))
		must(t, err)
		if _, err := reader.Lock(inner.Context()); !errors.Is(err, rwlock.ErrUpgrade) {
			t.Errorf("upgrade: %v", err)
		}
		f.release(inner)
		f.release(outer)
		must(t, <-wrote)
	})
}

func TestBadInput(t *testing.T) {
	l, err := memlock.New(memlock.NewNodes(1))
	must(t, err)
	defer l.Close()
	for name, c := range map[string]struct {
		locker lock.Locker
		name   string
		want   error
	}{
		"no locker": {nil, "prices", lock.ErrInvalidOption},
		"no name":   {l, "", lock.ErrInvalidResource},
	} {
		if _, err := rwlock.New(c.locker, c.name); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	rw := of(t, l)
	if rw.Name() != "prices" {
		t.Error(rw.Name())
	}
	if _, err := rw.RLock(t.Context(), lock.TTL(time.Hour)); !errors.Is(err, lock.ErrInvalidTTL) {
		t.Errorf("a TTL above the maximum: %v", err)
	}
	var zero rwlock.RWLock
	if _, err := zero.RLock(t.Context()); !errors.Is(err, lock.ErrInvalidOption) {
		t.Errorf("the zero value: %v", err)
	}
	if err := zero.Write(t.Context(), nil); !errors.Is(err, lock.ErrInvalidOption) {
		t.Errorf("the zero value: %v", err)
	}
}

// TestAnOptionMakesNoReader of a mutex: two leases of one resource would be valid.
func TestAnOptionMakesNoReader(t *testing.T) {
	l, err := memlock.New(memlock.NewNodes(3))
	must(t, err)
	defer l.Close()
	for _, kind := range []lock.Kind{lock.KindRead, lock.KindWrite, lock.KindSemaphore} {
		for range 2 {
			as := lock.OfKind(kind)
			_, err := l.Acquire(t.Context(), "mutex#0", lock.NoWait(), as)
			if !errors.Is(err, lock.ErrInvalidOption) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
	as := lock.InMode(lock.ModeWrite)
	if _, err := of(t, l).RLock(t.Context(), as, lock.NoWait()); err != nil { // the construct's own mode counts
		t.Error(err)
	}
}
