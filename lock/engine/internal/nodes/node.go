package nodes

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const (
	// suspectAfter is how many calls in a row a node may leave unanswered before
	// acquires stop queueing up behind it.
	suspectAfter = 3
	// maxInFlight bounds the acquires that wait for one node at a time.
	maxInFlight = 1024
)

// Node is a driver's node, with a record of how it has been answering, and of the calls under
// way.
type Node struct {
	driver.Node
	Set       *Set
	Silent    atomic.Int32 // calls in a row without an answer
	probing   atomic.Bool  // a suspect is being asked
	inFlight  atomic.Int32
	RoundTrip atomic.Int64 // what answers have usually taken, in nanoseconds

	Listening atomic.Bool                    // the node can name this process
	Mute      atomic.Bool                    // it never will
	Restart   atomic.Pointer[driver.Restart] // detected, but no trace was there to receive it
	ClockSkew atomic.Int64                   // how far the node's clock is ahead; 0: unknown
	Retries   Retries
}

// Suspect reports that the node has not been answering. Such a node is asked by
// one acquire at a time, and is not chosen as gate.
func (n *Node) Suspect() bool { return n.Silent.Load() >= suspectAfter }

// Enter admits an acquire, or says why not. Exit must follow if it admits one.
func (n *Node) Enter() (probe bool, err error) {
	if n.inFlight.Add(1) > maxInFlight {
		n.inFlight.Add(-1)
		return false, fmt.Errorf("%w: %d acquires are under way", driver.ErrNotSent, maxInFlight)
	}
	if !n.Suspect() {
		return false, nil
	}
	if !n.probing.CompareAndSwap(false, true) {
		n.inFlight.Add(-1)
		return false, n.ErrSuspect()
	}
	return true, nil
}

// ErrSuspect is why a suspect node is not asked.
func (n *Node) ErrSuspect() error {
	return fmt.Errorf("%w: %w (%d)", driver.ErrNotSent, driver.ErrSilent, n.Silent.Load())
}

// Exit ends what Enter admitted.
func (n *Node) Exit(probe bool) {
	if probe {
		n.probing.Store(false)
	}
	n.inFlight.Add(-1)
}

// Note remembers whether the node answered, and how long that took. An error reply is
// an answer.
func (n *Node) Note(took time.Duration, err error) {
	switch {
	case err == nil:
		if n.Silent.Load() != 0 {
			n.Silent.Store(0)
		}
		usual := n.RoundTrip.Load() // a lost update is no harm
		n.RoundTrip.Store(usual + (int64(took)-usual)/8)
	case errors.Is(err, driver.ErrUnheard), driver.ClassOf(err) == driver.Busy:
	case driver.ClassOf(err).Silent():
		n.Silent.Add(1)
	default:
		n.Silent.Store(0)
	}
}

// Command is one call on one node, for its traces and the node's record.
type Command struct {
	Ctx   context.Context // for its hooks
	began time.Time
}

// Begin reports the start of a call to the traces.
func (n *Node) Begin(ctx context.Context, ts hooks.Traces, e locktrace.NodeStart) Command {
	if len(ts) > 0 {
		e.Node, e.Backend = n.Name(), n.Set.Backend
		ctx = ts.NodeStart(ctx, e)
	}
	return Command{Ctx: ctx, began: time.Now()}
}

// End notes the answer to a call, and reports it to the traces with the event that began it.
func (n *Node) End(c Command, ts hooks.Traces, e locktrace.NodeStart, verdict lock.Verdict, err error) {
	took := time.Since(c.began)
	n.Note(took, err)
	if len(ts) == 0 {
		return
	}
	if err != nil {
		verdict = lock.VerdictFailed
	}
	e.Node, e.Backend = n.Name(), n.Set.Backend
	ts.NodeEnd(c.Ctx, locktrace.NodeEnd{
		NodeStart: e, Took: took, Verdict: verdict, Err: err, ClockSkew: time.Duration(n.ClockSkew.Load()),
	})
	if n.Restart.Load() != nil {
		if r := n.Restart.Swap(nil); r != nil {
			ts.NodeRestart(c.Ctx, locktrace.NodeRestart{
				Node: e.Node, Backend: n.Set.Backend,
				Witnessed: r.Witnessed, Left: r.Left, Enforced: r.Enforced, Evicted: r.Evicted,
			})
		}
	}
}

// VerdictOf is the verdict of a node that answered.
func VerdictOf(ok bool) lock.Verdict {
	if ok {
		return lock.VerdictGranted
	}
	return lock.VerdictRefused
}

// Listen has the node call named when a release names this process. It reports whether the node will.
func (n *Node) Listen(
	ctx context.Context, ts hooks.Traces, e locktrace.NodeStart, timeout time.Duration, named func(key string),
) bool {
	c := n.Begin(Values(ctx, ts), ts, e)
	limited, cancel := context.WithTimeout(c.Ctx, timeout)
	defer cancel()
	err := n.Subscribe(limited, n.Set.ID, named)
	if errors.Is(err, driver.ErrNoWakeUps) {
		n.Mute.Store(true)
		n.End(c, ts, e, lock.VerdictRefused, nil)
		return false
	}
	n.End(c, ts, e, lock.VerdictGranted, err)
	if err != nil {
		return false
	}
	n.Listening.Store(true)
	return true
}

// Values is ctx without its end: a command must not be cut short where its outcome
// matters. Hooks of nodes look for values of their own in it for each node, which allocates
// in a context.WithoutCancel and not in a context above one.
func Values(ctx context.Context, ts hooks.Traces) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	endless := context.WithoutCancel(ctx)
	if !ts.HearNodes() {
		return endless
	}
	return context.WithValue(endless, above{}, nil)
}

// above is the key of no value.
type above struct{}
