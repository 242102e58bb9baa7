package synclock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/synclock"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const patience = time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func process(t *testing.T, nodes memlock.Nodes) *memlock.Locker {
	t.Helper()
	l, err := memlock.New(nodes)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func mutex(ctx context.Context, t *testing.T, l lock.Locker, opts ...lock.AcquireOption) *synclock.Mutex {
	t.Helper()
	m, err := synclock.New(ctx, l, "report", opts...)
	must(t, err)
	return m
}

// apart runs fn in a goroutine, and sends whether fn returned: false if the goroutine ended in it.
func apart(fn func()) <-chan bool {
	result := make(chan bool, 1)
	go func() {
		returned := false
		defer func() { result <- returned }()
		fn()
		returned = true
	}()
	return result
}

// peak counts how many are inside at once.
type peak struct {
	mu       sync.Mutex
	now, max int
}

func (p *peak) work(l sync.Locker) {
	l.Lock()
	defer l.Unlock()
	p.add(1)
	<-time.After(time.Millisecond)
	p.add(-1)
}

func (p *peak) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now += n
	p.max = max(p.max, p.now)
}

// local is a sync.Mutex that fake time sees waiting.
type local chan struct{}

func (l local) Lock()   { l <- struct{}{} }
func (l local) Unlock() { <-l }

// TestOneOfAll: two processes of three goroutines each are never inside together. With a mutex for each process they
// are.
func TestOneOfAll(t *testing.T) {
	for name, c := range map[string]struct {
		locker func(t *testing.T, nodes memlock.Nodes) sync.Locker
		max    int
	}{
		"this package's": {func(t *testing.T, nodes memlock.Nodes) sync.Locker {
			return mutex(t.Context(), t, process(t, nodes))
		}, 1},
		"a mutex for each process (bad)": {func(*testing.T, memlock.Nodes) sync.Locker { return make(local, 1) }, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			nodes := memlock.NewNodes(3)
			var p peak
			var all sync.WaitGroup
			for range 2 {
				l := c.locker(t, nodes)
				for range 3 {
					all.Go(func() {
						for range 5 {
							p.work(l)
						}
					})
				}
			}
			all.Wait()
			if p.max != c.max {
				t.Errorf("%s: %d at once", name, p.max)
			}
		})
	}
}

// TestLockReturnsOnlyWithTheLock: it tries again where Acquire would not, and ends its goroutine if nothing can help.
func TestLockReturnsOnlyWithTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		ctx, shutdown := context.WithCancelCause(t.Context())
		m, other := mutex(ctx, t, process(t, nodes), lock.NoWait()), process(t, nodes)
		lease, err := other.Acquire(t.Context(), "report")
		must(t, err)
		nodes.NoQuorum()
		locked := apart(m.Lock)
		<-time.After(time.Minute)
		nodes.Recover()
		if !<-locked || m.Context().Err() != nil || lease.Context().Err() == nil {
			t.Fatalf("the nodes are back: %v, %v", m.Err(), m.Context().Err())
		}
		m.Unlock()
		lease, err = other.Acquire(t.Context(), "report")
		must(t, err)
		locked = apart(m.Lock)
		synctest.Wait()
		stop := errors.New("shutdown")
		shutdown(stop)
		if <-locked || !errors.Is(m.Err(), stop) {
			t.Errorf("it is held, and the context has ended: %v", m.Err())
		}
		must(t, lease.Release(t.Context()))
		if <-apart(m.Lock) || m.Acquire(t.Context()) == nil {
			t.Error("another Lock returned after one gave up")
		}
		m.Unlock()
		if !errors.Is(m.Err(), stop) {
			t.Errorf("after Unlock: %v", m.Err())
		}
	})
}

// failing is a Locker for which waiting does not help at first, as while nodes are in quarantine.
type failing struct {
	lock.Locker
	left *int
}

func (f failing) Acquire(ctx context.Context, r string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if *f.left > 0 {
		*f.left--
		return nil, &lock.QuorumError{Resource: r, Nodes: 3, Quorum: 2}
	}
	return f.Locker.Acquire(ctx, r, opts...)
}

// TestLockTriesAgain: an error of Acquire does not end Lock. It ends Acquire.
func TestLockTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := 3
		m := mutex(t.Context(), t, failing{process(t, memlock.NewNodes(3)), &left})
		if err := m.Acquire(t.Context()); !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("Acquire: %v", err)
		}
		if !<-apart(m.Lock) || left != 0 || m.Context().Err() != nil {
			t.Fatalf("Lock: %v, %d errors left", m.Err(), left)
		}
		m.Unlock()
	})
}

// TestNoQuorum: no Lock and no Acquire returns without the lock.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		for _, opt := range []lock.AcquireOption{lock.NoWait(), lock.MaxWait(time.Second)} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			m, k := mutex(ctx, t, l, opt), synclock.NewKeyed(l, opt)
			for _, err := range []error{m.Acquire(ctx), k.Lock(ctx, "report")} {
				if !errors.Is(err, lock.ErrNoQuorum) {
					t.Error(err)
				}
			}
			if <-apart(m.Lock) || m.Err() == nil || k.Context("report").Err() == nil {
				t.Errorf("Lock: %v", m.Err())
			}
		}
	})
}

// refusing is a Locker whose driver cannot do what the options ask for.
type refusing struct{ lock.Locker }

func (refusing) Acquire(context.Context, string, ...lock.AcquireOption) (lock.Lease, error) {
	return nil, fmt.Errorf("%w: this driver cannot keep a resource", errors.ErrUnsupported)
}

// TestFinalErrors: waiting cannot help if the Locker is closed or refuses the options.
func TestFinalErrors(t *testing.T) {
	closed, err := memlock.New(memlock.NewNodes(3))
	must(t, err)
	must(t, closed.Close())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for want, m := range map[error]*synclock.Mutex{
		lock.ErrClosed:        mutex(ctx, t, closed),
		lock.ErrInvalidTTL:    mutex(ctx, t, process(t, memlock.NewNodes(1)), lock.TTL(-1)),
		errors.ErrUnsupported: mutex(ctx, t, refusing{closed}, lock.MinHold(time.Minute)),
	} {
		if <-apart(m.Lock) || ctx.Err() != nil || !errors.Is(m.Err(), want) {
			t.Errorf("%v: %v", want, m.Err())
		}
	}
	if _, err := synclock.New(t.Context(), closed, "{"); !errors.Is(err, lock.ErrInvalidResource) {
		t.Errorf("an invalid name: %v", err)
	}
}

// TestADeferredUnlockReleasesNobodyElse: a goroutine waits in sync.Cond.Wait for the lock that another one has. At
// shutdown it ends only after that one, whose lock its deferred Unlock would release.
func TestADeferredUnlockReleasesNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, shutdown := context.WithCancel(t.Context())
		m := mutex(ctx, t, process(t, memlock.NewNodes(3)))
		cond, waits := sync.NewCond(m), make(chan struct{})
		waiter := apart(func() {
			m.Lock()
			defer m.Unlock()
			close(waits)
			cond.Wait()
		})
		<-waits
		m.Lock() // after Wait has unlocked
		cond.Signal()
		synctest.Wait()
		shutdown()
		synctest.Wait()
		if len(waiter) > 0 || m.Context().Err() != nil {
			t.Errorf("it ended beside the holder, whose context says %v", m.Context().Err())
		}
		m.Unlock()
		if <-waiter {
			t.Error("Wait returned")
		}
	})
}

// TestLoss: the holder is told by the context and after its Unlock. Until then nobody of its process gets in, and its
// Unlock takes the lock from nobody.
func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := process(t, memlock.NewNodes(3))
		m := mutex(t.Context(), t, l)
		m.Lock()
		ctx := m.Context()
		if held := lock.HeldLeases(ctx); len(held) != 1 || held[0].Fence == 0 {
			t.Errorf("the context holds %v", held)
		}
		next := apart(m.Lock)
		must(t, l.Lose("report"))
		if cause := context.Cause(ctx); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("told %v", cause)
		}
		synctest.Wait()
		if len(next) > 0 {
			t.Error("two goroutines of one process are inside")
		}
		m.Unlock()
		if !<-next || !errors.Is(m.Err(), lock.ErrLost) || m.Context().Err() != nil {
			t.Errorf("the next one: %v, %v", m.Err(), m.Context().Err())
		}
		m.Unlock()
		cause, err := context.Cause(m.Context()), m.Release()
		if !errors.Is(cause, lock.ErrNotHeld) || !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("nobody has it: %v, %v", cause, err)
		}
	})
}

// TestAcquire: with an error, and with the options that bound the wait, also for a goroutine of the same process.
func TestAcquire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		l, other := process(t, nodes), process(t, nodes)
		stop := errors.New("stop")
		stopped, cancel := context.WithCancelCause(t.Context())
		cancel(stop)
		late, cancelLate := context.WithDeadlineCause(t.Context(), time.Now(), stop)
		defer cancelLate()
		for _, c := range []struct {
			ctx  context.Context
			opt  lock.AcquireOption
			want error
		}{
			{t.Context(), lock.NoWait(), lock.ErrHeld}, {t.Context(), lock.MaxWait(patience), lock.ErrMaxWait},
			{stopped, nil, stop}, {stopped, nil, context.Canceled}, {late, nil, stop}, {late, nil, context.DeadlineExceeded},
		} {
			m := mutex(t.Context(), t, l, c.opt)
			if err := m.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := m.Acquire(c.ctx); !errors.Is(err, c.want) {
				t.Errorf("held by this process: %v, want %v", err, c.want)
			}
			if waited := time.Since(began); c.want == lock.ErrMaxWait && waited != patience {
				t.Errorf("waited %v", waited)
			}
			must(t, m.Release())
			must(t, lock.Do(t.Context(), other, "report", func(context.Context, lock.Lease) error {
				if err := m.Acquire(c.ctx); !errors.Is(err, c.want) {
					t.Errorf("held by another process: %v, want %v", err, c.want)
				}
				return nil
			}))
		}
	})
}
