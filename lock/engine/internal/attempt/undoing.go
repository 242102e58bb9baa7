package attempt

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Undoing is the release of one grant. It is sent in the order of the node's calls: the calls
// that it undoes have been answered, or given up. A node that may have the token and does not
// answer is asked again in the background.
type Undoing struct {
	Grant    *Grant
	Ctx      context.Context // for its values
	Traces   hooks.Traces
	Event    locktrace.NodeStart
	Timeout  time.Duration
	Req      driver.ReleaseRequest
	Args     *driver.ArgsCache // of the round's requests that say no more than this one
	Keep     Keep              // for how long the node keeps the lock
	withdraw bool              // the node may never have got the token: it is then not asked
	Report   Reporter

	contender nodes.Contender // hears of a wasted grant of the gate; nil for other nodes
	state     GrantState      // when it was sent
	command   nodes.Command
	Err       error                    // its last answer, for the round; guarded by the round's mutex
	answers   chan nodes.ReleaseAnswer // of a retry; nil before
}

// Reporter gets each answer to a release.
type Reporter interface{ ReleaseAnswered(nodes.ReleaseAnswer) }

// Queue sends the release after the node's earlier calls.
func (u *Undoing) Queue(wait callqueue.Waiter) {
	u.Grant.Set.Releases.Begin()
	u.Grant.Calls.DoWaiting(u, wait)
}

// Start implements callqueue.Call.
func (u *Undoing) Start(wait callqueue.Waiter) {
	u.state = u.Grant.known()
	late := u.Grant.mayArrive()
	if u.withdraw && u.state != GrantHeld && !late {
		u.Tell(nodes.ReleaseAnswer{Reply: driver.ReleaseReply{Found: driver.FoundNothing}})
		u.done()
		return
	}
	if u.state != GrantHeld {
		u.Req.Waiter = driver.Waiter{}
	}
	if late {
		// The acquire may still arrive, behind this release and by another connection. Without the tombstone it would lock
		// for nobody, for a whole TTL (counterexamples 29 and 31 of lock/proof/spec).
		u.Req.Tombstone = u.Grant.Set.TombstoneTTL()
	} else if u.Req.Waiter.ID == "" {
		u.Req.Args = u.Args
	}
	u.send(wait)
}

func (u *Undoing) send(wait callqueue.Waiter) {
	u.command = u.Grant.Begin(u.Ctx, u.Traces, u.Event)
	call := driver.Call{Context: u.command.Ctx, Deadline: time.Now().Add(u.Timeout), Wait: wait.Context}
	if left := u.left(); left > 0 {
		(*keeping)(u).send(call, left)
		return
	}
	u.Grant.Release(call, &u.Req, u)
}

// Answer implements driver.Answer.
func (u *Undoing) Answer(reply driver.ReleaseReply, err error) {
	u.Grant.End(u.command, u.Traces, u.Event, nodes.VerdictOf(reply.Found == driver.FoundOwn), err)
	if u.answers != nil {
		u.answers <- nodes.ReleaseAnswer{Reply: reply, Err: err}
		return
	}
	retried := err != nil && (u.state == GrantHeld || u.Req.Tombstone > 0)
	u.Tell(nodes.ReleaseAnswer{Reply: reply, Err: err, Retried: retried})
	switch {
	case err == nil:
		u.Grant.SetState(GrantRefused)
	case retried:
		u.Grant.Retries.Add(u.Grant.Set, u)
	}
	u.done()
}

// done lets the node's next call begin.
func (u *Undoing) done() {
	u.Grant.Calls.Next()
	u.Grant.Set.Releases.End()
}

// Tell passes an answer on.
func (u *Undoing) Tell(a nodes.ReleaseAnswer) {
	if a.Reply.Named {
		u.Grant.Set.Contended.Mark(queueKey(&u.Req), nodes.HandoffWindow)
	}
	if u.contender != nil && a.Err == nil && a.Reply.Found == driver.FoundOwn {
		u.contender.GrantWasted()
	}
	if u.Report != nil {
		a.From = u.Grant.Index
		u.Report.ReleaseAnswered(a)
	}
}

// queueKey is the key under which those queue that wait for what is released.
func queueKey(req *driver.ReleaseRequest) string {
	if of := req.Semaphore; of != nil && of.OneQueue {
		return of.QueueKey()
	}
	return req.Key
}

// Again sends the release once more and returns the answer.
func (u *Undoing) Again() nodes.ReleaseAnswer {
	u.send(callqueue.Waiter{})
	return <-u.answers
}

// Retry makes this a release that is sent again until it is answered.
func (u *Undoing) Retry() {
	// By the time the node answers again, others will have queued behind the key.
	u.Req.Handoff, u.Req.Args = nodes.HandoffWindow, nil
	u.answers = make(chan nodes.ReleaseAnswer, 1)
}

// granter is a node that granted to an attempt that failed. It counts as done with its first answer.
type granter struct {
	granters *countdown
	answered atomic.Bool
}

func (g *granter) ReleaseAnswered(nodes.ReleaseAnswer) {
	if g.answered.CompareAndSwap(false, true) {
		g.granters.done()
	}
}

// countdown closes over once done has been called left times.
type countdown struct {
	left atomic.Int32
	over chan struct{}
}

func (c *countdown) done() {
	if c.left.Add(-1) == 0 {
		close(c.over)
	}
}
