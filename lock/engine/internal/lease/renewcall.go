package lease

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// extending asks one node to prolong the lease while it is valid. A node that has lost the lease
// sets it again, if there are other nodes to vote.
type extending struct {
	g       *attempt.Grant
	r       *renewal
	command nodes.Command
}

func (x *extending) event() locktrace.NodeStart {
	return locktrace.NodeStart{Resource: x.r.attempt.Start.Resource, Op: lock.OpExtend}
}

func (x *extending) Start(callqueue.Waiter) {
	r := x.r
	if !x.g.Open() || r.lease.Remaining() <= 0 || !time.Now().Before(r.deadline) {
		r.count(x.g.Index, driver.ExtendGone,
			fmt.Errorf("%w: the lease has ended, or earlier calls to the node are still under way", driver.ErrNotSent))
		x.g.Calls.Next()
		return
	}
	x.command = x.g.Begin(r.ctx, r.ts, x.event())
	x.g.Extend(driver.Call{Context: x.command.Ctx, Deadline: r.deadline}, &r.req, x)
}

// Answer implements driver.Answer.
func (x *extending) Answer(answer driver.ExtendReply, err error) {
	if mark, ok := errors.AsType[*driver.RevokedError](err); ok {
		x.revoked(mark)
		return
	}
	verdict := nodes.VerdictOf(answer == driver.ExtendDone)
	if answer == driver.ExtendRefilled {
		verdict = lock.VerdictRefilled
	}
	x.g.End(x.command, x.r.ts, x.event(), verdict, err)
	switch {
	case errors.Is(err, driver.ErrNotSent):
	case err != nil:
		x.g.SetState(attempt.GrantUnknown)
	case answer == driver.ExtendDone, answer == driver.ExtendRefilled:
		x.g.SetState(attempt.GrantHeld)
	case answer == driver.ExtendNoSlot: // what the node has of the lease is as before
	default:
		x.g.SetState(attempt.GrantRefused)
	}
	x.r.count(x.g.Index, answer, err)
	x.g.Calls.Next()
}

// revoked takes the refusal of a node where the lease is revoked. What the node has of the lease is as before.
func (x *extending) revoked(mark *driver.RevokedError) {
	x.g.End(x.command, x.r.ts, x.event(), lock.VerdictRefused, nil)
	x.r.countRevoked(x.g.Index, mark.Record)
	x.g.Calls.Next()
}
