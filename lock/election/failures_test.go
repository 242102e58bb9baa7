package election_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/locktest"
)

// The tests in this file are failures that other libraries had.

// all does something to every server.
func (f *fleet) all(do func(*locktest.FakeServer)) {
	for _, s := range f.servers {
		do(s)
	}
}

// TestResignThatFails: the nodes hang while a leader resigns. It leads no longer, every further Resign has the same
// result, and the leadership is given up as soon as the nodes answer: not only when it expires.
func TestResignThatFails(t *testing.T) {
	observing(t, func(t *testing.T, f *fleet, next func() seen) {
		next()
		const ttl = time.Minute
		term, err := election.Campaign(t.Context(), f.process("a"), "billing", election.TTL(ttl))
		must(t, err)
		want(t, "a leads", next(), "a")
		f.all((*locktest.FakeServer).Pause)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		failed := term.Resign(ctx)
		if !errors.Is(failed, lock.ErrNoQuorum) && !errors.Is(failed, context.DeadlineExceeded) {
			t.Errorf("Resign: %v", failed)
		}
		if term.Context().Err() == nil || term.Remaining() > 0 {
			t.Errorf("a still leads, for %v", term.Remaining())
		}
		if again := term.Resign(t.Context()); again != failed {
			t.Errorf("Resign again: %v", again)
		}
		f.all((*locktest.FakeServer).Resume)
		time.Sleep(3 * time.Second)
		next()
		want(t, "the nodes answer again", next(), "vacant")
		b, err := election.Campaign(t.Context(), noWait{f.process("b")}, "billing")
		must(t, err)
		if b.Number() <= term.Number() {
			t.Errorf("term %d after term %d", b.Number(), term.Number())
		}
		must(t, b.Resign(t.Context()))
	})
}

// TestCancelledCampaignLeavesNoTrace: a campaign that is cancelled while the nodes hang never leads, although its
// request takes effect late, and does not keep others waiting.
func TestCancelledCampaignLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		a := f.process("a")
		first, err := election.Campaign(t.Context(), a, "other") // connects
		must(t, err)
		must(t, first.Resign(t.Context()))
		f.all((*locktest.FakeServer).Pause)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := election.Campaign(ctx, a, "billing"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		f.all((*locktest.FakeServer).Resume)
		time.Sleep(2 * time.Second)
		if s, err := a.Peek(t.Context(), "billing"); err != nil || s.Held {
			t.Errorf("%+v, %v", s, err)
		}
		b, err := election.Campaign(t.Context(), noWait{f.process("b")}, "billing")
		must(t, err)
		must(t, b.Resign(t.Context()))
		f.all(func(s *locktest.FakeServer) {
			if n := s.QueueLength(); n != 0 {
				t.Errorf("%d candidates still queue", n)
			}
		})
	})
}

// TestCandidateWhosePlaceIsLost: the nodes forget the queue while a candidate waits. It goes on, and when it leads its
// term is of a lease that the nodes have.
func TestCandidateWhosePlaceIsLost(t *testing.T) {
	observing(t, func(t *testing.T, f *fleet, next func() seen) {
		ctx, cancel := context.WithCancel(t.Context())
		a, err := election.Campaign(t.Context(), f.process("a"), "billing")
		must(t, err)
		b := f.run(ctx, f.process("b"), "b")
		time.Sleep(time.Second)
		f.all(func(s *locktest.FakeServer) {
			s.Crash()
			s.RestartEmpty(20 * time.Second)
		})
		time.Sleep(time.Minute)
		if !errors.Is(context.Cause(a.Context()), lock.ErrLost) {
			t.Errorf("a: %v", context.Cause(a.Context()))
		}
		f.wantLeader("b")
		next()
		s := want(t, "b leads", next(), "b")
		if s.Term <= a.Number() {
			t.Errorf("term %d after term %d", s.Term, a.Number())
		}
		cancel()
		<-b
		_ = a.Resign(t.Context())
	})
}

// TestCampaignOfAClosedEngine ends at once, also for a candidate that waits.
func TestCampaignOfAClosedEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		a, err := election.Campaign(t.Context(), f.process("a"), "billing")
		must(t, err)
		l := f.process("b")
		b := f.run(t.Context(), l, "b")
		time.Sleep(time.Second)
		must(t, l.Close())
		if err := <-b; !errors.Is(err, lock.ErrClosed) {
			t.Error(err)
		}
		must(t, a.Resign(t.Context()))
		time.Sleep(time.Minute)
		f.wantLeader("")
	})
}

// unlucky is a Locker without a quorum while fails is true. It records when it was asked.
type unlucky struct {
	lock.Locker
	fails atomic.Bool

	mu    sync.Mutex
	asked []time.Time
}

// times returns when it was asked, from the n-th time on.
func (u *unlucky) times(n int) []time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.asked[n:])
}

func (u *unlucky) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	u.mu.Lock()
	u.asked = append(u.asked, time.Now())
	u.mu.Unlock()
	if u.fails.Load() {
		return nil, &lock.QuorumError{Resource: resource, Nodes: 3, Quorum: 2}
	}
	return u.Locker.Acquire(ctx, resource, opts...)
}

// TestAfterATermCampaignsFollowSoon: the pauses that an outage made long are short again once there was a leader.
func TestAfterATermCampaignsFollowSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, ctx := newFleet(t), t.Context()
		ctx, cancel := context.WithCancel(ctx)
		u := &unlucky{Locker: f.process("a")}
		u.fails.Store(true)
		done := f.run(ctx, u, "a")
		time.Sleep(time.Minute)
		asked := u.times(0)
		if last := len(asked) - 1; asked[last].Sub(asked[last-1]) < 2*time.Second {
			t.Errorf("in an outage, a campaign follows after %v", asked[last].Sub(asked[last-1]))
		}
		u.fails.Store(false)
		time.Sleep(10 * time.Second)
		f.wantLeader("a")
		before := len(u.times(0))
		u.fails.Store(true)
		f.all((*locktest.FakeServer).Pause)
		time.Sleep(time.Minute) // the term is lost
		if next := u.times(before); next[1].Sub(next[0]) > 100*time.Millisecond {
			t.Errorf("after a term, the second campaign follows after %v", next[1].Sub(next[0]))
		}
		f.all((*locktest.FakeServer).Resume)
		cancel()
		<-done
	})
}
