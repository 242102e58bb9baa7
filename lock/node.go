package lock

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

const (
	// suspectAfter is how many calls in a row a node may leave unanswered before
	// acquires stop queueing up behind it.
	suspectAfter = 3
	// maxInFlight bounds the acquires that wait for one node at a time.
	maxInFlight = 1024
)

// node is a driver's node as the engine sees it: how it has been answering, and how
// much is under way.
type node struct {
	driver.Node
	engine   *Engine
	silent   atomic.Int32 // calls in a row without an answer
	probing  atomic.Bool  // a suspect is being asked
	inFlight atomic.Int32

	listening atomic.Bool                    // the node can name this process
	restart   atomic.Pointer[driver.Restart] // noticed, and no trace was there to be told
	retries   releaseRetries
}

// suspect reports that the node has not been answering. Such a node is asked by
// one acquire at a time, and is not chosen as gate.
func (n *node) suspect() bool { return n.silent.Load() >= suspectAfter }

// enter asks to send an acquire; leave must follow if it says yes.
func (n *node) enter() (probe bool, err error) {
	if n.inFlight.Add(1) > maxInFlight {
		n.inFlight.Add(-1)
		return false, fmt.Errorf("%w: %d acquires are under way", driver.ErrNotSent, maxInFlight)
	}
	if !n.suspect() {
		return false, nil
	}
	if !n.probing.CompareAndSwap(false, true) {
		n.inFlight.Add(-1)
		return false, fmt.Errorf("%w: its last %d calls got no answer", driver.ErrNotSent, n.silent.Load())
	}
	return true, nil
}

func (n *node) leave(probe bool) {
	if probe {
		n.probing.Store(false)
	}
	n.inFlight.Add(-1)
}

// note remembers whether the node answered. An error reply is an answer.
func (n *node) note(err error) {
	switch {
	case err == nil:
		if n.silent.Load() != 0 {
			n.silent.Store(0)
		}
	case errors.Is(err, driver.ErrNotSent):
	case driver.ClassOf(err).Silent():
		n.silent.Add(1)
	default:
		n.silent.Store(0)
	}
}

// acquire is Node.Acquire behind the bounds of enter.
func (n *node) acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	probe, err := n.enter()
	if err != nil {
		return driver.AcquireReply{}, err
	}
	defer n.leave(probe)
	reply, err := n.Acquire(ctx, req)
	if reply.Restart != nil {
		n.restart.Store(reply.Restart)
	}
	return reply, err
}

// call runs one command, with its trace, and its mark in the node's record. ctx
// must end by itself: see within.
func (n *node) call(ctx context.Context, ts tracers, e NodeStart, do func(ctx context.Context) (Verdict, error)) error {
	if len(ts) == 0 {
		_, err := do(ctx)
		n.note(err)
		return err
	}
	e.Node, e.Backend = n.Name(), n.engine.backend
	ctx = ts.nodeStart(ctx, e)
	began := time.Now()
	verdict, err := do(ctx)
	if err != nil {
		verdict = VerdictFailed
	}
	ts.nodeEnd(ctx, NodeEnd{NodeStart: e, Took: time.Since(began), Verdict: verdict, Err: err})
	if n.restart.Load() != nil {
		if r := n.restart.Swap(nil); r != nil {
			ts.nodeRestart(ctx, NodeRestart{Node: e.Node, Backend: n.engine.backend, Restart: *r})
		}
	}
	n.note(err)
	return err
}

// sendRelease sends one release within the node timeout.
func (n *node) sendRelease(c releaseCall) (reply driver.ReleaseReply, err error) {
	ctx, cancel := n.engine.within(c.ctx)
	defer cancel()
	err = n.call(ctx, c.ts, c.event, func(ctx context.Context) (Verdict, error) {
		reply, err = n.Release(ctx, c.req)
		return verdictOf(reply.Found == driver.FoundOwn), err
	})
	return reply, err
}

func verdictOf(ok bool) Verdict {
	if ok {
		return VerdictGranted
	}
	return VerdictRefused
}
