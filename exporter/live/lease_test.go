package live_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestEnds ends leases in every way. Each leaves the Board once.
func TestEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, l := process(t, newServers(t, 3), "a/1")
		parent, cancel := context.WithCancel(t.Context())
		ends := map[string]struct {
			ctx  context.Context
			opts []lock.AcquireOption
			end  func(lock.Lease)
		}{
			"release": {t.Context(), nil, func(l lock.Lease) { must(t, l.Release(t.Context())) }},
			"release twice": {t.Context(), nil, func(l lock.Lease) {
				must(t, l.Release(t.Context()))
				must(t,
					l.Release(t.Context()))
			}},
			"loss": {t.Context(), []lock.AcquireOption{lock.NoRenew(), lock.TTL(time.Second)}, func(l lock.Lease) {
				settle(2 * time.Second)
				_ = l.Release(t.Context())
			}},
			"max hold, forgotten": {t.Context(), []lock.AcquireOption{lock.MaxHold(time.Minute)},
				func(lock.Lease) { settle(2 * time.Minute) }},
			"caller gone": {parent, nil, func(lock.Lease) { cancel(); settle(0) }},
		}
		for name, how := range ends {
			lease, err := l.Acquire(how.ctx, name, how.opts...)
			must(t, err)
			other := acquire(t, l, "other")
			if held := stateOf(board).Held; len(held) != 2 || held[0].Resource != name {
				t.Errorf("%s: before: %+v", name, held)
			}
			how.end(lease)
			if held := stateOf(board).Held; len(held) != 1 || held[0].Resource != "other" {
				t.Errorf("%s: after: %+v", name, held)
			}
			must(t, other.Release(t.Context()))
			if s := stateOf(board); len(s.Held)+s.Omitted.Held != 0 {
				t.Errorf("%s: in the end: %+v %+v", name, s.Held, s.Omitted)
			}
		}
	})
}

// TestForgottenLeases are never released. After their end nothing of them remains, not even a place in the count of
// omitted ones.
func TestForgottenLeases(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t, live.WithMaxShown(1))
		l := wrap(t, board, newRedlock(t, newServers(t, 1), "a/1"))
		for i := range 50 {
			acquire(t, l, resourceName(i), lock.MaxHold(time.Minute))
		}
		if s := stateOf(board); len(s.Held) != 1 || s.Omitted.Held != 49 {
			t.Errorf("%d held, %d omitted", len(s.Held), s.Omitted.Held)
		}
		settle(2 * time.Minute)
		if s := stateOf(board); len(s.Held) != 0 || s.Omitted.Held != 0 {
			t.Errorf("two minutes later: %d held, %d omitted", len(s.Held), s.Omitted.Held)
		}
	})
}

// TestForgottenCalls panic, or end their goroutine, inside the wrapped Locker.
func TestForgottenCalls(t *testing.T) {
	board := newBoard(t)
	for name, end := range map[string]func(){"panic": func() { panic("next") }, "goexit": runtime.Goexit} {
		l := wrap(t, board, ending{end})
		var all sync.WaitGroup
		all.Go(func() {
			defer func() {
				if r := recover(); (r == "next") != (name == "panic") {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			_, _ = l.Acquire(t.Context(), "x")
			t.Errorf("%s: it returned", name)
		})
		all.Wait()
	}
	if s := stateOf(board); len(s.Waiting) != 0 {
		t.Errorf("still waiting: %+v", s.Waiting)
	}
}

type ending struct{ end func() }

func (e ending) Acquire(context.Context, string, ...lock.AcquireOption) (lock.Lease, error) {
	e.end()
	return nil, nil
}

func TestExtends(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, l := process(t, servers, "a/1")
		lease := acquire(t, l, "job", lock.TTL(3*time.Second))
		plain := acquire(t, wrap(t, board, &noop{}), "other")
		must(t, plain.Extend(t.Context()))
		settle(2500 * time.Millisecond) // two renewals
		must(t, lease.Extend(t.Context()))
		s := stateOf(board)
		if s.Held[0].Extends != 3 || s.Held[1].Extends != 1 {
			t.Errorf("extends: %+v", s.Held)
		}
		if s.Held[0].Nodes != 3 || s.Held[1].Nodes != 0 {
			t.Errorf("nodes: %+v", s.Held)
		}
		servers[2].Crash()
		servers[2].RestartEmpty(time.Hour) // it lost the key and must not report that
		settle(time.Second)
		if n := stateOf(board).Held[0].Nodes; n < 2 {
			t.Errorf("%d nodes after one of three was lost", n)
		}
		must(t, lease.Release(t.Context()))
		must(t, plain.Release(t.Context()))
	})
}

// TestNodesOfTheWinner does not count a node that had granted an earlier attempt.
func TestNodesOfTheWinner(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		_, a := process(t, servers, "a/1")
		board, b := process(t, servers, "b/2")
		holder := acquire(t, a, "job", lock.NoRenew())
		servers[0].Crash()
		servers[0].RestartEmpty(0)
		waiting := acquireAsync(t.Context(), b, "job")
		settle(20 * time.Millisecond)
		servers[0].Crash()
		must(t, holder.Release(t.Context()))
		got := <-waiting
		must(t, got.err)
		settle(time.Second)
		s := stateOf(board)
		granted := 0
		for _, step := range s.Slowest[0].Steps {
			if step.Name == "node1" && step.Outcome == "granted" {
				granted++
			}
		}
		if granted == 0 || s.Held[0].Nodes != 2 {
			t.Errorf("node1 granted %d attempts, and %d nodes know the lock", granted, s.Held[0].Nodes)
		}
		must(t, got.lease.Release(t.Context()))
		servers[0].Restart()
	})
}

// TestNested locks inside a lease: neither lock sees the other's events, and a trace of the caller sees both.
func TestNested(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 1)
		board, l := process(t, servers, "a/1")
		plain := newRedlock(t, servers, "c/3")
		attempts := 0
		ctx := locktrace.With(t.Context(), &locktrace.Trace{AttemptEnd: func(context.Context,
			locktrace.AttemptEnd) {
			attempts++
		}})
		must(t, lock.Do(ctx, l, "x", func(ctx context.Context, _ lock.Lease) error {
			return lock.Do(ctx, l, "y", func(ctx context.Context, _ lock.Lease) error {
				return lock.Do(ctx, plain, "z", func(context.Context, lock.Lease) error { return nil })
			})
		}))
		s := stateOf(board)
		if attempts != 3 || len(s.Slowest) != 2 || len(s.Waits) != 1 || s.Waits[0].Count != 2 {
			t.Errorf("%d attempts, %+v", attempts, s)
		}
		for _, a := range s.Slowest {
			if len(a.Steps) != 2 { // one attempt, one node
				t.Errorf("steps of %s: %+v", a.Resource, a.Steps)
			}
		}
		if calls := s.Nodes[0].Calls; calls != 4 {
			t.Errorf("%d commands, want two acquires and two releases", calls)
		}
	})
}

// TestReentrant shows both handles on one lease, with the reentrant Locker inside and outside the Board.
func TestReentrant(t *testing.T) {
	fakes := locktest.NewFakes(t, 1, lock.WithNodeTimeout(nodeTimeout))
	inside, outside := newBoard(t), newBoard(t)
	l := wrap(t, outside, lock.Reentrant(wrap(t, inside, fakes(t))))
	must(t, lock.Do(t.Context(), l, "x", func(ctx context.Context, _ lock.Lease) error {
		return lock.Do(ctx, l, "x", func(context.Context, lock.Lease) error {
			if in, out := len(stateOf(inside).Held), len(stateOf(outside).Held); in != 1 || out != 2 {
				t.Errorf("%d leases, %d handles", in, out)
			}
			return nil
		})
	}))
	wantNobody(t, inside)
	wantNobody(t, outside)
}

func wantNobody(t *testing.T, b *live.Board) {
	t.Helper()
	if s := stateOf(b); len(s.Held)+len(s.Waiting) != 0 {
		t.Errorf("held %+v, waiting %+v", s.Held, s.Waiting)
	}
}

// TestOddLockers return values that no Locker should return. They are passed on.
func TestOddLockers(t *testing.T) {
	board := newBoard(t)
	if lease, err := wrap(t, board, ending{func() {}}).Acquire(t.Context(), "x"); lease != nil || err != nil {
		t.Errorf("nothing became %v, %v", lease, err)
	}
	mine := errors.New("mine")
	if _, err := wrap(t, board, &noop{err: mine}).Acquire(t.Context(), "x"); err != mine {
		t.Errorf("the error became %v", err)
	}
	wantNobody(t, board)
}

// TestWrapRefuses a Locker that could not work later.
func TestWrapRefuses(t *testing.T) {
	board := newBoard(t)
	for name, wrap := range map[string]func() (lock.Locker, error){
		"nil locker": func() (lock.Locker, error) { return board.Wrap(nil) },
		"nil option": func() (lock.Locker, error) { return board.Wrap(&noop{}, nil) },
		"no name":    func() (lock.Locker, error) { return board.Wrap(&noop{}, live.WithLockerInstance("")) },
	} {
		if l, err := wrap(); !errors.Is(err, live.ErrInvalidOption) || l != nil {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
}

// TestHammer has many lockers on one Board, and a reader that keeps asking for the State.
func TestHammer(t *testing.T) {
	board := newBoard(t, live.WithSlowest(3))
	fakes := locktest.NewFakes(t, 3, lock.WithNodeTimeout(nodeTimeout))
	lockers := []lock.Locker{wrap(t, board, fakes(t)), wrap(t, board, fakes(t)), wrap(t, board, &noop{}),
		wrap(t, board, &noop{err: lock.ErrNoQuorum})}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	var all sync.WaitGroup
	for i := range 24 {
		l := lockers[i%len(lockers)]
		all.Go(func() {
			for ctx.Err() == nil {
				lease, err := l.Acquire(ctx, resourceName(i%5), lock.MaxWait(20*time.Millisecond))
				if err != nil {
					continue
				}
				_ = lease.Extend(ctx)
				if i%3 > 0 {
					_ = lease.Release(context.WithoutCancel(ctx))
				}
			}
		})
	}
	looks := 0
	for ; ctx.Err() == nil; looks++ {
		s := stateOf(board)
		for _, a := range s.Slowest {
			if len(a.Steps) > state.MaxSteps {
				t.Errorf("%d steps", len(a.Steps))
			}
			clear(a.Steps) // the caller owns the State
		}
		held := make(map[uint64]string)
		for _, h := range s.Held {
			if other, twice := held[h.Fence]; h.Fence > 1 && twice && other == h.Resource {
				t.Errorf("%s is held twice with fence %d", h.Resource, h.Fence)
			}
			held[h.Fence] = h.Resource
		}
	}
	all.Wait()
	eventually(t, "everything has left", func() bool { s := stateOf(board); return len(s.Held)+len(s.Waiting) == 0 })
	if looks == 0 {
		t.Error("nobody looked")
	}
}
