package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// undoing is the release of one grant. It is sent in the order of the node's calls: the calls
// that it undoes have been answered, or given up. A node that may have the token and does not
// answer is asked again in the background.
type undoing struct {
	g        *grant
	ctx      context.Context // for its values
	ts       hooks.Traces
	event    lock.NodeStart
	timeout  time.Duration
	req      driver.ReleaseRequest
	shared   *driver.Shared // of the round's requests that say no more than this one
	withdraw bool           // the node may never have got the token: it is then not asked
	report   releaseReporter

	contender nodes.Contender // hears of a wasted grant of the gate; nil for other nodes
	state     grantState      // when it was sent
	command   nodes.Command
	err       error                    // its last answer, for the round; guarded by the round's mutex
	answers   chan nodes.ReleaseAnswer // of a retry; nil before
}

// releaseReporter gets each answer to a release.
type releaseReporter interface{ releaseAnswered(nodes.ReleaseAnswer) }

func (u *undoing) Start(wait callqueue.Waiter) {
	u.state = u.g.known()
	late := u.g.mayArrive()
	if u.withdraw && u.state != grantHeld && !late {
		u.Tell(nodes.ReleaseAnswer{Reply: driver.ReleaseReply{Found: driver.FoundNothing}})
		u.g.calls.Next()
		return
	}
	if u.state != grantHeld {
		u.req.Waiter = driver.Waiter{}
	}
	if late {
		u.req.Tombstone = u.g.Set.TombstoneTTL()
	} else if u.req.Waiter.ID == "" {
		u.req.Shared = u.shared
	}
	u.send(wait)
}

func (u *undoing) send(wait callqueue.Waiter) {
	u.command = u.g.Begin(u.ctx, u.ts, u.event)
	deadline := time.Now().Add(u.timeout)
	u.g.Release(driver.Call{Context: u.command.Ctx, Deadline: deadline, Wait: wait.Context}, &u.req, u)
}

// Answer implements driver.Answer.
func (u *undoing) Answer(reply driver.ReleaseReply, err error) {
	u.g.End(u.command, u.ts, u.event, nodes.VerdictOf(reply.Found == driver.FoundOwn), err)
	if u.answers != nil {
		u.answers <- nodes.ReleaseAnswer{Reply: reply, Err: err}
		return
	}
	retried := err != nil && (u.state == grantHeld || u.req.Tombstone > 0)
	u.Tell(nodes.ReleaseAnswer{Reply: reply, Err: err, Retried: retried})
	switch {
	case err == nil:
		u.g.setState(grantRefused)
	case retried:
		u.g.Retries.Add(u.g.Set, u)
	}
	u.g.calls.Next()
}

func (u *undoing) Tell(a nodes.ReleaseAnswer) {
	if a.Reply.Named {
		u.g.Set.Contended.Mark(u.req.Key, nodes.HandoffWindow)
	}
	if u.contender != nil && a.Err == nil && a.Reply.Found == driver.FoundOwn {
		u.contender.GrantWasted()
	}
	if u.report != nil {
		a.From = u.g.index
		u.report.releaseAnswered(a)
	}
}

// Again sends the release once more and returns the answer.
func (u *undoing) Again() nodes.ReleaseAnswer {
	u.send(callqueue.Waiter{})
	return <-u.answers
}

// Retry makes this a release that is sent again until it is answered.
func (u *undoing) Retry() {
	// By the time the node answers again, others will have queued behind the key.
	u.req.Handoff, u.req.Shared = nodes.HandoffWindow, nil
	u.answers = make(chan nodes.ReleaseAnswer, 1)
}

// granter is a node that granted to an attempt that failed. It counts as done with its first answer.
type granter struct {
	granters *countdown
	answered atomic.Bool
}

func (g *granter) releaseAnswered(nodes.ReleaseAnswer) {
	if g.answered.CompareAndSwap(false, true) {
		g.granters.done()
	}
}
