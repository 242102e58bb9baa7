package engine

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestALeaseThatHasEndedHandsNothingOver: after a lease ends and before its turn is passed on, its caller may still
// release it. The lock is then already released, or left to the work that still runs under it.
func TestALeaseThatHasEndedHandsNothingOver(t *testing.T) {
	for _, cause := range []error{nil, lock.ErrMaxHold, lock.ErrLost} {
		all, clock := newTestQueues()
		q, opts := all.enter("lock:a"), lock.NewAcquireOptions()
		q.takeTurn(&opts, nil)
		l := &lease{
			set: &set{cfg: &config{clock: clock.read}}, queue: q,
			attempt: &attempt{terms: terms{opts: opts}},
			timer:   time.NewTimer(time.Hour), expires: opts.TTL, keepUntil: handOverWindow, ended: cause,
		}
		q.keepTurn(l)
		next := q.takeTurn(&opts, nil)
		if got := l.endForNext(); (got == next) != (cause == nil) || next.handed != (cause == nil) {
			t.Errorf("a lease that ended with %v: handed over %v", cause, next.handed)
		}
	}
}
