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

// member is a node as the Redlock sees it: how it has been answering, and how
// much is under way.
type member struct {
	driver.Node
	backend  Backend
	silent   atomic.Int32 // calls in a row without an answer
	probing  atomic.Bool  // a suspect is being asked
	inFlight atomic.Int32

	listening atomic.Bool                    // the node can name this process
	restart   atomic.Pointer[driver.Restart] // noticed, and no trace was there to be told
	arrears   arrears
}

// suspect reports that the node has not been answering. Such a node is asked by
// one acquire at a time, and is not chosen as gate.
func (m *member) suspect() bool { return m.silent.Load() >= suspectAfter }

// enter asks to send an acquire; leave must follow if it says yes.
func (m *member) enter() (probe bool, err error) {
	if m.inFlight.Add(1) > maxInFlight {
		m.inFlight.Add(-1)
		return false, fmt.Errorf("%w: %d acquires are under way", driver.ErrNotSent, maxInFlight)
	}
	if !m.suspect() {
		return false, nil
	}
	if !m.probing.CompareAndSwap(false, true) {
		m.inFlight.Add(-1)
		return false, fmt.Errorf("%w: its last %d calls got no answer", driver.ErrNotSent, m.silent.Load())
	}
	return true, nil
}

func (m *member) leave(probe bool) {
	if probe {
		m.probing.Store(false)
	}
	m.inFlight.Add(-1)
}

// note remembers whether the node answered. An error reply is an answer.
func (m *member) note(err error) {
	switch {
	case err == nil:
		if m.silent.Load() != 0 {
			m.silent.Store(0)
		}
	case errors.Is(err, driver.ErrNotSent):
	case driver.ClassOf(err).Silent():
		m.silent.Add(1)
	default:
		m.silent.Store(0)
	}
}

// acquire is Node.Acquire behind the bounds of enter.
func (m *member) acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	probe, err := m.enter()
	if err != nil {
		return driver.AcquireReply{}, err
	}
	defer m.leave(probe)
	reply, err := m.Acquire(ctx, req)
	if reply.Restart != nil {
		m.restart.Store(reply.Restart)
	}
	return reply, err
}

// call runs one command, with its trace and its place in the node's record. ctx
// must end by itself: see within.
func (m *member) call(ctx context.Context, ts tracers, e NodeStart, do func(ctx context.Context) (Verdict, error)) error {
	if len(ts) == 0 {
		_, err := do(ctx)
		m.note(err)
		return err
	}
	e.Node, e.Backend = m.Name(), m.backend
	ctx = ts.nodeStart(ctx, e)
	began := time.Now()
	verdict, err := do(ctx)
	if err != nil {
		verdict = Failed
	}
	ts.nodeEnd(ctx, NodeEnd{NodeStart: e, Took: time.Since(began), Verdict: verdict, Err: err})
	if m.restart.Load() != nil {
		if r := m.restart.Swap(nil); r != nil {
			ts.nodeRestart(ctx, NodeRestart{Node: e.Node, Backend: m.backend, Restart: *r})
		}
	}
	m.note(err)
	return err
}
