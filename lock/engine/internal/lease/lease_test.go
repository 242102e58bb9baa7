package lease

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
)

// TestALeaseThatHasEndedHandsNothingOver: after a lease ends and before its turn is passed on, its caller may still
// release it. The lock is then already released, or left to the work that still runs under it.
func TestALeaseThatHasEndedHandsNothingOver(t *testing.T) {
	for _, cause := range []error{nil, lock.ErrMaxHold, lock.ErrLost} {
		clock := &enginetest.Clock{}
		q, opts := queue.NewQueues(2).Enter("lock:a"), lock.NewAcquireOptions()
		q.TakeTurn(&opts, nil)
		l := &Lease{
			set: &nodes.Set{Config: &nodes.Config{Clock: clock.Read}}, queue: q,
			attempt: &attempt.Attempt{Terms: attempt.Terms{Opts: opts}},
			timer:   time.NewTimer(time.Hour), expires: opts.TTL, keepUntil: attempt.HandOverWindow, ended: cause,
		}
		q.KeepTurn(l)
		next := q.TakeTurn(&opts, nil)
		if got := l.endForNext(); (got == next) != (cause == nil) || next.Handed != (cause == nil) {
			t.Errorf("a lease that ended with %v: handed over %v", cause, next.Handed)
		}
	}
}

// TestAnExtendNeverShortens: a round that began earlier may end later.
func TestAnExtendNeverShortens(t *testing.T) {
	k := newKept(t)
	before := k.lease.Remaining()
	if !k.lease.prolong(time.Second) || k.lease.Remaining() != before {
		t.Errorf("%v left, %v before", k.lease.Remaining(), before)
	}
	if !k.lease.prolong(time.Minute) || k.lease.Remaining() != time.Minute {
		t.Errorf("%v left after a round that won", k.lease.Remaining())
	}
	k.lease.stop(lock.ErrMaxHold)
}
