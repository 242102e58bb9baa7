package contest

import (
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// TestALockThatIsGivenBackAtOnce passes on the turn that came with it, and keeps the queue of its caller.
func TestALockThatIsGivenBackAtOnce(t *testing.T) {
	a := newContending()
	won := &attempt.Attempt{
		Terms: attempt.Terms{Queue: &a.line.Calls, Opts: a.req.Opts}, Set: a.engine.Set, Ready: await.NewSignal(),
	}
	a.giveBack(attempt.Beginning{Attempt: won, Fence: 2, Last: 10, Expires: a.req.Opts.TTL, RenewAt: clock.Never, HandedOver: true})
	if a.engine.Queues.WakeUp("lock:a") || a.line.Keeps() != nil {
		t.Error("nobody has the lock, and nobody can contend for it")
	}
	if a.engine.Queues.Graphs([]string{"lock:a"})[0] == nil {
		t.Error("its caller has lost its queue")
	}
	if a.line.Leave(); a.engine.Queues.Graphs([]string{"lock:a"})[0] != nil {
		t.Error("the queue has more users than its caller")
	}
}

// TestRunsAreBounded: fences are reserved for the callers that wait, up to a bound, and only by leases that may hand
// over.
func TestRunsAreBounded(t *testing.T) {
	for waiting, want := range map[int]uint64{0: 1, 1: fencesPerWaiter, 2: 2 * fencesPerWaiter, 1000: maxRun} {
		a := newContending()
		for range waiting {
			a.line.TakeTurn(&a.req.Opts, nil)
		}
		if a.reserve() != want {
			t.Errorf("%d fences for %d that wait, want %d", a.reserve(), waiting, want)
		}
	}
	a := newContending()
	a.line.TakeTurn(&a.req.Opts, nil)
	if a.req.Opts.Fair = true; a.reserve() != 1 {
		t.Error("a fair caller reserves fences, and hands nothing over")
	}
}

// TestTheGateIsAskedFirst by a caller that would otherwise overtake who was named, and by a fair one every other time.
func TestTheGateIsAskedFirst(t *testing.T) {
	a := newContending()
	a.tries = 1
	a.engine.Nodes, a.engine.Quorum = make([]*nodes.Node, 3), 2
	if a.gateFirst("lock:a") {
		t.Error("it asks the gate first, and nobody was named")
	}
	a.engine.Contended.Mark("lock:a", time.Second)
	if !a.gateFirst("lock:a") {
		t.Error("it overtakes who was named")
	}
	a.req.Opts.Fair, a.tries = true, 2
	for polls, first := range []bool{true, false, true} {
		if a.pace.polls = polls; a.gateFirst("lock:a") != first {
			t.Errorf("a fair caller after %d polls asks the gate first: %v", polls, !first)
		}
	}
	if a.pace.polls, a.named = 0, true; !a.gateFirst("lock:a") {
		t.Error("a fair caller that was named overtakes, if it was named for the call before it")
	}
}

// TestAPlaceThatWasNotToldIsGivenUp: where the gate has granted an attempt that failed, giving that back queues the
// caller again. The next grant removes only a place that the caller knows.
func TestAPlaceThatWasNotToldIsGivenUp(t *testing.T) {
	failed := errors.New("another node refused")
	for name, c := range map[string]struct {
		before        int64 // ticket
		res           ballot.Result
		unknownTicket bool
	}{
		"granted by the gate":      {res: ballot.Result{Err: failed}, unknownTicket: true},
		"the gate did not answer":  {res: ballot.Result{Err: failed, GateFault: true}, unknownTicket: true},
		"with a place":             {before: 7, res: ballot.Result{Err: failed}},
		"refused with a place":     {res: ballot.Result{Err: failed, GateRefused: true, Ticket: 7}},
		"refused without a place":  {res: ballot.Result{Err: failed, GateRefused: true}},
		"won":                      {},
		"told of its place by now": {res: ballot.Result{Err: failed, Ticket: 7}},
	} {
		g := gateQueue{ticket: c.before}
		if g.note(&attempt.Attempt{Terms: attempt.Terms{Waiter: driver.Waiter{Enqueue: true}}}, c.res, true); g.unknownTicket != c.unknownTicket {
			t.Errorf("%s: %v", name, g.unknownTicket)
		}
	}
}
