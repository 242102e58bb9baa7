package lease

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// TestAReleaseWakesWhoIsNext in this process without a message from a node, and wakes nobody else.
func TestAReleaseWakesWhoIsNext(t *testing.T) {
	for _, first := range []bool{true, false} {
		k := newKept(t)
		k.queue.First.Store(first)
		k.lease.Lose()
		select {
		case w := <-k.queue.Wake:
			if !first || !w.Named {
				t.Errorf("first %v: woken with %+v", first, w)
			}
		default:
			if first {
				t.Error("who is next waits for a message")
			}
		}
	}
}

// TestAReleaseOfWhatWasOver does not count as a release: after "not there", a second such answer says nothing about the
// first request.
func TestAReleaseOfWhatWasOver(t *testing.T) {
	for cause, lost := range map[error]bool{lock.ErrLost: true, lock.ErrMaxHold: true, lock.ErrReleased: false} {
		k := newKept(t)
		k.lease.end(cause)
		r := k.lease.startRelease(k.lease.traceCtx, callqueue.Waiter{})
		r.undoings = []attempt.Undoing{{Err: driver.ErrTimeout}}
		r.count(nodes.ReleaseAnswer{Reply: driver.ReleaseReply{Found: driver.FoundNothing}})
		if r.lost != lost || r.expired == 1 != lost || r.released == 1 == lost {
			t.Errorf("after %v: %d released, %d expired", cause, r.released, r.expired)
		}
	}
}

// TestAReleaseAsksWhoHasTheLockNow: after a quorum of "not there", the round still waits for nodes that may name the
// holder.
func TestAReleaseAsksWhoHasTheLockNow(t *testing.T) {
	r := &releaseRound{attempt: &attempt.Attempt{Set: &nodes.Set{Quorum: 2}}, undoings: make([]attempt.Undoing, 3)}
	r.expired = 2
	if r.decided() {
		t.Error("decided, and the third may know who has it")
	}
	if r.taken = 1; !r.decided() {
		t.Error("not decided with all answers")
	}
	if r.expired = 1; !r.decided() {
		t.Error("not decided, and it is another's")
	}
	if _, err := r.outcome(nil); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("another has it: %v", err)
	}
}
