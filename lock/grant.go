package lock

import (
	"context"
	"sync"

	"github.com/lockscope/lockscope/lock/driver"
)

// grantState is what is known of one token on one node.
type grantState int

const (
	grantUnasked grantState = iota // nothing was sent
	grantHeld                      // the node holds the token
	grantRefused                   // the node does not hold it, and will not
	grantUnknown                   // sent, outcome not known: it may hold it, or come to
)

// grant is one node's part in one attempt and in the lease it becomes: it
// remembers what the node last said of the token.
type grant struct {
	*node
	calls *callQueue

	mu      sync.Mutex
	state   grantState
	counter uint64 // fence counter of the grant
	late    bool   // a call was not answered, and may still arrive
	givenUp bool   // the token was given up: nothing may be set any more
}

// known is the node's last word and its fence counter.
func (g *grant) known() (grantState, uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state, g.counter
}

func (g *grant) set(state grantState, counter uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = state
	g.late = g.late || state == grantUnknown
	if counter != 0 {
		g.counter = counter
	}
}

// mayArrive reports that a call which can set the token was not answered: however
// things look now, it can still take effect.
func (g *grant) mayArrive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.late
}

// giveUp keeps calls that have not begun from setting anything.
func (g *grant) giveUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.givenUp = true
}

// open reports that the token may still be set on the node.
func (g *grant) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.givenUp
}

// releaseCall is a release on its way to a node.
type releaseCall struct {
	ctx    context.Context // for its values: its end is not heeded
	ts     tracers
	event  NodeStart
	req    driver.ReleaseRequest
	report func(releaseAnswer) // called with each answer
}

// releaseAnswer is what a node says to a release.
type releaseAnswer struct {
	from    int // index of the node
	reply   driver.ReleaseReply
	err     error
	retried bool // after err: it is asked again, and may still answer
}

// withdraw is release for a node that may never have got the token, or said no to
// it: such a node is not asked.
func (g *grant) withdraw(c releaseCall) {
	if state, _ := g.known(); state != grantHeld && !g.mayArrive() {
		c.report(releaseAnswer{reply: driver.ReleaseReply{Found: driver.FoundNothing}})
		return
	}
	g.release(c)
}

// release undoes the token on this node and reports what came of it. It must
// run in the grant's call queue, so that what it undoes has been answered or given up.
// A node that may have the token and does not answer is asked again in the
// background, and reported again if it does.
func (g *grant) release(c releaseCall) {
	state, _ := g.known()
	if g.mayArrive() {
		c.req.Tombstone = g.engine.tombstoneTTL()
	}
	if state != grantHeld {
		c.req.Waiter = driver.Waiter{}
	}
	reply, err := g.sendRelease(c)
	retried := err != nil && (state == grantHeld || c.req.Tombstone > 0)
	c.report(releaseAnswer{reply: reply, err: err, retried: retried})
	switch {
	case err == nil:
		g.set(grantRefused, 0)
	case retried:
		// By the time the node answers again, others will have queued behind the key.
		c.req.Handoff = g.engine.cfg.handoffWindow()
		c.ctx = context.WithoutCancel(c.ctx)
		g.retryRelease(c)
	}
}
