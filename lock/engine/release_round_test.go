package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/workers"
)

// TestAReleaseWakesWhoIsNext in this process without a message from a node, and wakes nobody else.
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

// TestAReleaseOfWhatWasOver does not count as a release: after "not there", a second such answer says nothing about the
// first request.
func TestAReleaseOfWhatWasOver(t *testing.T) {
	for cause, lost := range map[error]bool{lock.ErrLost: true, lock.ErrMaxHold: true, lock.ErrReleased: false} {
		k := newKept(t)
		k.lease.end(cause)
		r := k.lease.startRelease(k.lease.traceCtx, callqueue.Waiter{})
		r.undoings = []undoing{{err: driver.ErrTimeout}}
		r.count(releaseAnswer{reply: driver.ReleaseReply{Found: driver.FoundNothing}})
		if r.lost != lost || r.expired == 1 != lost || r.released == 1 == lost {
			t.Errorf("after %v: %d released, %d expired", cause, r.released, r.expired)
		}
	}
}

// TestAReleaseAsksWhoHasTheLockNow: after a quorum of "not there", the round still waits for nodes that may name the
// holder.
func TestAReleaseAsksWhoHasTheLockNow(t *testing.T) {
	r := &releaseRound{attempt: &attempt{set: &set{quorum: 2}}, undoings: make([]undoing, 3)}
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

// TestANodeThatNamedSomebody is remembered: the next caller of this process asks the gate first.
func TestANodeThatNamedSomebody(t *testing.T) {
	k := newKept(t)
	u := &undoing{g: &grant{node: &node{set: k.engine.set}}, req: driver.ReleaseRequest{Key: "lock:a"}}
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

// TestReleaseRetriesAreBounded in number and in time, and begin again after a pause.
func TestReleaseRetriesAreBounded(t *testing.T) {
	k := newKept(t)
	n := &node{set: k.engine.set}
	n.retries.running = true
	n.retries.due = make([]pendingRelease, maxReleaseRetries)
	if n.retries.add(n.set, &undoing{}); len(n.retries.due) != maxReleaseRetries {
		t.Errorf("%d releases are kept", len(n.retries.due))
	}
	k.clock.now = time.Hour
	n.retries.due = []pendingRelease{{retriable: &undoing{}, until: time.Minute}} // sending it would panic
	if n.retries.run(n.set); len(n.retries.due) != 0 || n.retries.running {
		t.Errorf("%d releases are left; running: %v", len(n.retries.due), n.retries.running)
	}
}

// releasing is a node that records releases, and first answers them with its errors.
type releasing struct {
	driver.Node
	asked []driver.ReleaseRequest
	errs  []error
}

func (n *releasing) Release(_ driver.Call, req *driver.ReleaseRequest, to driver.Answer[driver.ReleaseReply]) {
	n.asked = append(n.asked, *req)
	if len(n.errs) > 0 {
		err := n.errs[0]
		n.errs = n.errs[1:]
		to.Answer(driver.ReleaseReply{}, err)
		return
	}
	to.Answer(driver.ReleaseReply{Found: driver.FoundOwn}, nil)
}

// answers are the answers of a round.
type answers []releaseAnswer

func (a *answers) releaseAnswered(answer releaseAnswer) { *a = append(*a, answer) }

// TestAnUndoingByWhatIsKnown about the token on its node. If it was never sent, no request is made. If it may still
// arrive, the request leaves a tombstone and is repeated until it is answered. Only if it was granted does its waiter
// return to its place.
func TestAnUndoingByWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		states           []grantState // in this order
		withdraw         bool
		err              error
		asked            int
		tombstone, queue bool
	}{
		"never sent":            {withdraw: true},
		"refused":               {states: []grantState{grantRefused}, withdraw: true},
		"refused, and released": {states: []grantState{grantRefused}, asked: 1},
		"not known":             {states: []grantState{grantUnknown}, withdraw: true, asked: 1, tombstone: true},
		"refused, may arrive": {states: []grantState{grantUnknown, grantRefused}, withdraw: true, asked: 1,
			tombstone: true},
		"granted":            {states: []grantState{grantHeld}, withdraw: true, asked: 1, queue: true},
		"granted, no answer": {states: []grantState{grantHeld}, err: driver.ErrTimeout, asked: 2, queue: true},
		"not known, no answer": {states: []grantState{grantUnknown}, err: driver.ErrTimeout, asked: 2,
			tombstone: true},
		"refused, no answer": {states: []grantState{grantRefused}, err: driver.ErrTimeout, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t)
			k.engine.workers = workers.New()
			server := &releasing{}
			if c.err != nil {
				server.errs = []error{c.err}
			}
			g := &grant{node: &node{Node: server, set: k.engine.set}, calls: &callqueue.Queue{}}
			for _, state := range c.states {
				g.setState(state)
			}
			var told answers
			u := &undoing{g: g, ctx: t.Context(), timeout: time.Second, withdraw: c.withdraw, report: &told}
			u.req = driver.ReleaseRequest{Key: "lock:a", Token: "t1", Waiter: driver.Waiter{ID: "w1"}}
			g.calls.Do(u)
			for len(g.retriesLeft()) > 0 {
				time.Sleep(time.Millisecond)
			}
			k.engine.workers.Close()
			if len(server.asked) != c.asked || len(told) != max(c.asked, 1) {
				t.Fatalf("asked %d times, told %d answers; want %d", len(server.asked), len(told), c.asked)
			}
			if g.calls.IsBusy() {
				t.Error("the calls behind it wait for ever")
			}
			if c.asked == 0 {
				return
			}
			if first := server.asked[0]; first.Tombstone > 0 != c.tombstone || (first.Waiter.ID != "") != c.queue {
				t.Errorf("%+v", first)
			}
			if last := told[len(told)-1]; c.asked == 2 && (last.err != nil || last.reply.Found != driver.FoundOwn) {
				t.Errorf("the round is told %+v in the end", last)
			}
			if c.err == nil && g.known() != grantRefused {
				t.Error("it is taken for one that the node may still hold")
			}
		})
	}
}

// retriesLeft returns the releases that are still to be repeated.
func (n *node) retriesLeft() []pendingRelease {
	n.retries.mu.Lock()
	defer n.retries.mu.Unlock()
	return n.retries.due
}
