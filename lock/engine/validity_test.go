package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// fullTTL is the validity of a TTL of ten seconds: 1 % and 2 ms are reserved for clocks. The number is written out, so
// that a slip in engine.Drift shows.
const fullTTL = 10*time.Second - 100*time.Millisecond - 2*time.Millisecond

// delay lets every node act at once and answer later.
func (p *process) delay(d time.Duration) {
	for _, n := range p.nodes {
		n.Delay(d)
	}
}

func (p *process) acquire(opts ...lock.AcquireOption) lock.Lease {
	p.t.Helper()
	lease, err := p.locker.Acquire(p.t.Context(), "job", opts...)
	if err != nil {
		p.t.Fatal(err)
	}
	return lease
}

// TestValidityCountsFromBeforeTheFirstRequest, of an acquire and of an extend: a node may have started its TTL at once.
func TestValidityCountsFromBeforeTheFirstRequest(t *testing.T) {
	inProcess(t, func(p *process) {
		const answersIn = 100 * time.Millisecond
		p.delay(answersIn)
		lease := p.acquire(lock.TTL(10*time.Second), lock.NoRenew())
		if left := lease.Remaining(); left != fullTTL-answersIn {
			t.Errorf("%v left after an acquire of %v, want %v", left, answersIn, fullTTL-answersIn)
		}
		time.Sleep(time.Second)
		if err := lease.Extend(p.t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := lease.Remaining(); left != fullTTL-answersIn {
			t.Errorf("%v left after an extend of %v, want %v", left, answersIn, fullTTL-answersIn)
		}
	})
}

// TestLossIsSignalledWhenValidityEnds, and not a moment later, although no node answers.
func TestLossIsSignalledWhenValidityEnds(t *testing.T) {
	for name, opts := range map[string]options{"renewed": nil, "not renewed": {lock.NoRenew()}} {
		t.Run(name, func(t *testing.T) {
			inProcess(t, func(p *process) {
				lease, began := p.acquire(append(opts, lock.TTL(10*time.Second))...), time.Now()
				p.nodes.NoQuorum()
				<-lease.Context().Done()
				if took := time.Since(began); took != fullTTL {
					t.Errorf("signalled after %v, want %v", took, fullTTL)
				}
				want := `lock: lease lost: "job" was lost at ` + time.Now().UTC().Format(time.RFC3339) +
					", and others may hold it now"
				if name == "renewed" {
					want += "; last renewal: lock: job: no quorum for extend: 1 of 3 nodes granted, 2 needed ("
				}
				cause := context.Cause(lease.Context())
				if !errors.Is(cause, lock.ErrLost) || errors.Is(cause, lock.ErrNoQuorum) ||
					!strings.HasPrefix(cause.Error(), want) || name != "renewed" && cause.Error() != want {
					t.Errorf("cause is %v, want %v", cause, want)
				}
			})
		})
	}
}

// TestAnAttemptThatTookLongerThanItsTTLFails: the host is suspended while the nodes vote.
func TestAnAttemptThatTookLongerThanItsTTLFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var suspended atomic.Int64
		began := time.Now()
		p := &process{t: t, nodes: memlock.NewNodes(3)}
		p.locker = p.another(engine.WithClock(func() time.Duration {
			return time.Since(began) +
				time.Duration(suspended.Load())
		}))
		var end locktrace.AttemptEnd
		ctx := locktrace.With(t.Context(), &locktrace.Trace{
			NodeEnd:    func(context.Context, locktrace.NodeEnd) { suspended.Store(int64(lock.DefaultTTL)) },
			AttemptEnd: func(_ context.Context, e locktrace.AttemptEnd) { end = e },
		})
		if _, err := p.locker.Acquire(ctx, "job", lock.NoWait()); !errors.Is(err, lock.ErrTooLate) {
			t.Errorf("Acquire says %v, want ErrTooLate", err)
		}
		if !errors.Is(end.Err, lock.ErrTooLate) || end.Validity > 0 {
			t.Errorf("the attempt ended with %v and a validity of %v", end.Err, end.Validity)
		}
		synctest.Wait()
		if p.isHeld() {
			t.Error("it was not given back")
		}
	})
}

// TestExtendOfALeaseThatIsReleasedMeanwhile: the nodes prolonged the lease, but its release follows, so it is not
// renewed. Nothing is lost, and the trace reports no loss.
func TestExtendOfALeaseThatIsReleasedMeanwhile(t *testing.T) {
	inProcess(t, func(p *process) {
		var end locktrace.RenewEnd
		ctx := locktrace.With(p.t.Context(),
			&locktrace.Trace{RenewEnd: func(_ context.Context, e locktrace.RenewEnd) { end = e }})
		lease, err := p.locker.Acquire(ctx, "job", lock.NoRenew())
		if err != nil {
			p.t.Fatal(err)
		}
		p.delay(100 * time.Millisecond)
		extended, released := make(chan error), make(chan error)
		go func() { extended <- lease.Extend(p.t.Context()) }()
		synctest.Wait()
		go func() { released <- lease.Release(p.t.Context()) }()
		if err := <-extended; !errors.Is(err, lock.ErrReleased) {
			p.t.Errorf("Extend says %v, want ErrReleased", err)
		}
		if err := <-released; err != nil {
			p.t.Error(err)
		}
		if end.Outcome != locktrace.RenewOvertaken || !errors.Is(end.Err, lock.ErrReleased) {
			p.t.Errorf("the round was %s: %v", end.Outcome, end.Err)
		}
	})
}

// TestExtendDoesNotReviveALeaseThatRanOut: the host is suspended while the nodes prolong the lease. When their answers
// arrive, the lease has expired by the clock, and no timer has fired yet. Another process may have held the lock
// meanwhile.
func TestExtendDoesNotReviveALeaseThatRanOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var suspended atomic.Int64
		began := time.Now()
		p := &process{t: t, nodes: memlock.NewNodes(3)}
		p.locker = p.another(engine.WithClock(func() time.Duration {
			return time.Since(began) +
				time.Duration(suspended.Load())
		}))
		lease := p.acquire(lock.TTL(10*time.Second), lock.NoRenew())
		time.Sleep(9 * time.Second)
		p.delay(100 * time.Millisecond)
		extended := make(chan error)
		go func() { extended <- lease.Extend(t.Context()) }()
		synctest.Wait() // every node has prolonged it, for ten seconds more
		suspended.Store(int64(2 * time.Second))
		if err := <-extended; !errors.Is(err, lock.ErrLost) {
			t.Errorf("Extend says %v, want ErrLost", err)
		}
		if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrLost) || lease.Remaining() > 0 {
			t.Errorf("cause is %v, %v left", cause, lease.Remaining())
		}
	})
}

// TestRefillIsNoVote: a node that lost the lease and got it back in this very round cannot vouch for the time in
// between. If the other nodes are no quorum, another holder is possible, and the lease is lost.
func TestRefillIsNoVote(t *testing.T) {
	for forgetful, want := range map[int]error{1: nil, 2: lock.ErrLost, 3: lock.ErrLost} {
		inProcess(t, func(p *process) {
			var end locktrace.RenewEnd
			ctx := locktrace.With(p.t.Context(),
				&locktrace.Trace{RenewEnd: func(_ context.Context, e locktrace.RenewEnd) { end = e }})
			lease, err := p.locker.Acquire(ctx, "job", lock.NoRenew())
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // all three have granted
			for _, n := range p.nodes[:forgetful] {
				n.Forget()
			}
			// The node that remembers answers last: if a refill counted as a vote, it would decide.
			p.nodes[2].Delay(time.Millisecond)
			if err := lease.Extend(p.t.Context()); !errors.Is(err, want) {
				t.Errorf("%d nodes have forgotten: %v, want %v", forgetful, err, want)
			}
			if cause := context.Cause(lease.Context()); !errors.Is(cause, want) {
				t.Errorf("%d nodes have forgotten: the lease's cause is %v", forgetful, cause)
			}
			if end.Granted+end.Refilled > 3 || want == nil && end.Granted != 2 || want != nil && end.Granted > 1 {
				t.Errorf("%d nodes have forgotten: %+v", forgetful, end)
			}
		})
	}
}
