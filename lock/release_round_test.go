package lock

import (
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// TestAReleaseWakesWhoIsNext in this process, without a message of a node; and nobody else.
func TestAReleaseWakesWhoIsNext(t *testing.T) {
	for _, first := range []bool{true, false} {
		k := newKept(t)
		k.queue.first.Store(first)
		k.lease.lose()
		select {
		case w := <-k.queue.wake:
			if !first || !w.named {
				t.Errorf("first %v: woken with %+v", first, w)
			}
		default:
			if first {
				t.Error("who is next waits for a message")
			}
		}
	}
}

// TestAReleaseOfWhatWasOver is not counted as one: a second answer of "not there" says nothing of the first then.
func TestAReleaseOfWhatWasOver(t *testing.T) {
	for cause, lost := range map[error]bool{ErrLost: true, ErrMaxHold: true, ErrReleased: false} {
		k := newKept(t)
		k.lease.end(cause)
		r := k.lease.startRelease(k.lease.traceCtx, waiter{})
		r.undoings = []undoing{{err: driver.ErrTimeout}}
		r.count(releaseAnswer{reply: driver.ReleaseReply{Found: driver.FoundNothing}})
		if r.lost != lost || r.expired == 1 != lost || r.released == 1 == lost {
			t.Errorf("after %v: %d released, %d expired", cause, r.released, r.expired)
		}
	}
}

// TestAReleaseAsksWhoHasTheLockNow: a quorum that no longer has it is not the end while another may know more.
func TestAReleaseAsksWhoHasTheLockNow(t *testing.T) {
	r := &releaseRound{lease: &lease{engine: &Engine{quorum: 2}}, undoings: make([]undoing, 3)}
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
	if _, err := r.outcome(nil); !errors.Is(err, ErrNotHeld) {
		t.Errorf("another has it: %v", err)
	}
}

// TestANodeThatNamedSomebody is remembered: who comes next from this process asks the gate first.
func TestANodeThatNamedSomebody(t *testing.T) {
	k := newKept(t)
	u := &undoing{g: &grant{node: &node{engine: k.engine}}, req: driver.ReleaseRequest{Key: "lock:a"}}
	a := k.acquisition()
	a.attempts = 1
	k.engine.nodes, k.engine.quorum = make([]*node, 3), 2
	u.tell(releaseAnswer{})
	if a.gateFirst() {
		t.Error("it asks the gate first, and nobody was named")
	}
	u.tell(releaseAnswer{reply: driver.ReleaseReply{Named: true}})
	if !a.gateFirst() {
		t.Error("it overtakes who was named")
	}
	if u.retry(); u.req.Handoff != handoffWindow || u.req.Shared != nil {
		t.Errorf("a release that is sent again names nobody: %+v", u.req)
	}
	a.opts.Fair, a.attempts = true, 2
	for polls, first := range []bool{true, false, true} {
		if a.polls = polls; a.gateFirst() != first {
			t.Errorf("a fair caller after %d polls asks the gate first: %v", polls, !first)
		}
	}
}

// TestReleaseRetriesAreBounded in number and in time, and begin again after a rest.
func TestReleaseRetriesAreBounded(t *testing.T) {
	k := newKept(t)
	n := &node{engine: k.engine}
	n.retries.running = true
	n.retries.due = make([]pendingRelease, maxReleaseRetries)
	if n.retryRelease(&undoing{}); len(n.retries.due) != maxReleaseRetries {
		t.Errorf("%d releases are kept", len(n.retries.due))
	}
	k.clock.now = time.Hour
	n.retries.due = []pendingRelease{{undoing: &undoing{}, until: time.Minute}} // to send it would panic
	if n.runRetries(); len(n.retries.due) != 0 || n.retries.running {
		t.Errorf("%d releases are left; running: %v", len(n.retries.due), n.retries.running)
	}
}
