package attempt

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/workers"
)

// newSet is a set without nodes.
func newSet() *nodes.Set {
	clock := &enginetest.Clock{}
	return &nodes.Set{
		Config: &nodes.Config{Clock: clock.Read}, Contended: nodes.NewContention(clock.Read), Done: make(chan struct{}),
	}
}

// TestANodeThatNamedSomebody is remembered, and a release that is sent again names whoever waits by then.
func TestANodeThatNamedSomebody(t *testing.T) {
	e := newSet()
	u := &Undoing{Grant: &Grant{Node: &nodes.Node{Set: e}}, Req: driver.ReleaseRequest{Key: "lock:a"}}
	if u.Tell(nodes.ReleaseAnswer{}); e.Contended.Has("lock:a") {
		t.Error("nobody was named")
	}
	if u.Tell(nodes.ReleaseAnswer{Reply: driver.ReleaseReply{Named: true}}); !e.Contended.Has("lock:a") {
		t.Error("it is forgotten who was named")
	}
	if u.Retry(); u.Req.Handoff != nodes.HandoffWindow || u.Req.Args != nil {
		t.Errorf("a release that is sent again names nobody: %+v", u.Req)
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
type answers []nodes.ReleaseAnswer

func (a *answers) ReleaseAnswered(answer nodes.ReleaseAnswer) { *a = append(*a, answer) }

// TestAnUndoingByWhatIsKnown about the token on its node. If it was never sent, no request is made. If it may still
// arrive, the request leaves a tombstone and is repeated until it is answered. Only if it was granted does its waiter
// return to its place.
func TestAnUndoingByWhatIsKnown(t *testing.T) {
	for name, c := range map[string]undoCase{
		"never sent":            {withdraw: true},
		"refused":               {states: []GrantState{GrantRefused}, withdraw: true},
		"refused, and released": {states: []GrantState{GrantRefused}, asked: 1},
		"not known":             {states: []GrantState{GrantUnknown}, withdraw: true, asked: 1, tombstone: true},
		"refused, may arrive": {states: []GrantState{GrantUnknown, GrantRefused}, withdraw: true, asked: 1,
			tombstone: true},
		"granted":            {states: []GrantState{GrantHeld}, withdraw: true, asked: 1, queue: true},
		"granted, no answer": {states: []GrantState{GrantHeld}, err: driver.ErrTimeout, asked: 2, queue: true},
		"not known, no answer": {states: []GrantState{GrantUnknown}, err: driver.ErrTimeout, asked: 2,
			tombstone: true},
		"refused, no answer": {states: []GrantState{GrantRefused}, err: driver.ErrTimeout, asked: 1},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, c.check) })
	}
}

// undoCase is what is known of a token, what becomes of the release, and what the node is asked.
type undoCase struct {
	states           []GrantState // in this order
	withdraw         bool
	err              error
	asked            int
	tombstone, queue bool
}

func (c undoCase) check(t *testing.T) {
	e := newSet()
	e.Workers = workers.New()
	server := &releasing{}
	if c.err != nil {
		server.errs = []error{c.err}
	}
	g := &Grant{Node: &nodes.Node{Node: server, Set: e}, Calls: &callqueue.Queue{}}
	for _, state := range c.states {
		g.SetState(state)
	}
	var told answers
	u := &Undoing{Grant: g, Ctx: t.Context(), Timeout: time.Second, withdraw: c.withdraw, Report: &told}
	u.Req = driver.ReleaseRequest{Key: "lock:a", Token: "t1", Waiter: driver.Waiter{ID: "w1"}}
	u.Queue(callqueue.Waiter{})
	time.Sleep(time.Minute) // of the fake time: for what is sent again
	e.Workers.Close()
	if len(server.asked) != c.asked || len(told) != max(c.asked, 1) {
		t.Fatalf("asked %d times, told %d answers; want %d", len(server.asked), len(told), c.asked)
	}
	if g.Calls.IsBusy() {
		t.Error("the calls behind it wait for ever")
	}
	if c.asked == 0 {
		return
	}
	if first := server.asked[0]; first.Tombstone > 0 != c.tombstone || (first.Waiter.ID != "") != c.queue {
		t.Errorf("%+v", first)
	}
	if last := told[len(told)-1]; c.asked == 2 && (last.Err != nil || last.Reply.Found != driver.FoundOwn) {
		t.Errorf("the round is told %+v in the end", last)
	}
	if c.err == nil && g.known() != GrantRefused {
		t.Error("it is taken for one that the node may still hold")
	}
}

// TestAnAttemptGivesUpWhatMayArrive: a node that refused, but has a call without an answer, may still set the token. It
// gets a tombstone. One that only refused is not asked.
func TestAnAttemptGivesUpWhatMayArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newSet()
		e.Workers = workers.New()
		a := &Attempt{Set: e, Timeout: time.Second, Grants: make([]Grant, 2)}
		a.ctx = t.Context()
		a.ballot.Asked = 0b11
		var servers [2]releasing
		for i := range a.Grants {
			g := &a.Grants[i]
			g.Node, g.Calls, g.round, g.Index = &nodes.Node{Node: &servers[i], Set: e}, &callqueue.Queue{}, a, i
		}
		a.Grants[0].SetState(GrantRefused)
		a.Grants[1].SetState(GrantUnknown)
		a.Grants[1].SetState(GrantRefused)
		a.abandon()
		time.Sleep(time.Minute)
		e.Workers.Close()
		if len(servers[0].asked) != 0 || len(servers[1].asked) != 1 || servers[1].asked[0].Tombstone == 0 {
			t.Errorf("asked %+v and %+v", servers[0].asked, servers[1].asked)
		}
	})
}
