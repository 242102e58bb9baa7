package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
)

const (
	// suspectAfter is how many calls in a row a node may leave unanswered before
	// acquires stop queueing up behind it.
	suspectAfter = 3
	// maxInFlight bounds the acquires that wait for one node at a time.
	maxInFlight = 1024
)

// node is a driver's node, with a record of how it has been answering, and of the calls under
// way.
type node struct {
	driver.Node
	set       *set
	silent    atomic.Int32 // calls in a row without an answer
	probing   atomic.Bool  // a suspect is being asked
	inFlight  atomic.Int32
	roundTrip atomic.Int64 // what answers have usually taken, in nanoseconds

	listening atomic.Bool                    // the node can name this process
	mute      atomic.Bool                    // it never will
	restart   atomic.Pointer[driver.Restart] // detected, but no trace was there to receive it
	retries   releaseRetries
}

// suspect reports that the node has not been answering. Such a node is asked by
// one acquire at a time, and is not chosen as gate.
func (n *node) suspect() bool { return n.silent.Load() >= suspectAfter }

// enter admits an acquire, or says why not. leave must follow if it admits one.
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
		return false, n.errSuspect()
	}
	return true, nil
}

func (n *node) errSuspect() error {
	return fmt.Errorf("%w: %w (%d)", driver.ErrNotSent, driver.ErrSilent, n.silent.Load())
}

func (n *node) leave(probe bool) {
	if probe {
		n.probing.Store(false)
	}
	n.inFlight.Add(-1)
}

// note remembers whether the node answered, and how long that took. An error reply is
// an answer.
func (n *node) note(took time.Duration, err error) {
	switch {
	case err == nil:
		if n.silent.Load() != 0 {
			n.silent.Store(0)
		}
		usual := n.roundTrip.Load() // a lost update is no harm
		n.roundTrip.Store(usual + (int64(took)-usual)/8)
	case errors.Is(err, driver.ErrUnheard), driver.ClassOf(err) == driver.Busy:
	case driver.ClassOf(err).Silent():
		n.silent.Add(1)
	default:
		n.silent.Store(0)
	}
}

// command is one call on one node, for its traces and the node's record.
type command struct {
	ctx   context.Context // for its hooks
	began time.Time
}

// begin reports the start of a call to the traces.
func (n *node) begin(ctx context.Context, ts hooks.Traces, e lock.NodeStart) command {
	if len(ts) > 0 {
		e.Node, e.Backend = n.Name(), n.set.backend
		ctx = ts.NodeStart(ctx, e)
	}
	return command{ctx: ctx, began: time.Now()}
}

// end notes the answer to a call, and reports it to the traces with the event that began it.
func (n *node) end(c command, ts hooks.Traces, e lock.NodeStart, verdict lock.Verdict, err error) {
	took := time.Since(c.began)
	n.note(took, err)
	if len(ts) == 0 {
		return
	}
	if err != nil {
		verdict = lock.VerdictFailed
	}
	e.Node, e.Backend = n.Name(), n.set.backend
	ts.NodeEnd(c.ctx, lock.NodeEnd{NodeStart: e, Took: took, Verdict: verdict, Err: err})
	if n.restart.Load() != nil {
		if r := n.restart.Swap(nil); r != nil {
			ts.NodeRestart(c.ctx, lock.NodeRestart{
				Node: e.Node, Backend: n.set.backend,
				Witnessed: r.Witnessed, Left: r.Left, Enforced: r.Enforced, Evicted: r.Evicted,
			})
		}
	}
}

func verdictOf(ok bool) lock.Verdict {
	if ok {
		return lock.VerdictGranted
	}
	return lock.VerdictRefused
}

// subscribe has the node call named when a release names this process. It reports whether the node will.
func (n *node) subscribe(
	ctx context.Context, ts hooks.Traces, e lock.NodeStart, timeout time.Duration, named func(key string),
) bool {
	c := n.begin(valuesOf(ctx), ts, e)
	limited, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	err := n.Subscribe(limited, n.set.id, named)
	if errors.Is(err, driver.ErrNoWakeUps) {
		n.mute.Store(true)
		n.end(c, ts, e, lock.VerdictRefused, nil)
		return false
	}
	n.end(c, ts, e, lock.VerdictGranted, err)
	if err != nil {
		return false
	}
	n.listening.Store(true)
	return true
}

// valuesOf is ctx without its end: a command must not be cut short where its outcome
// matters.
func valuesOf(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
