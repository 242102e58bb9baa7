package outage

import (
	"context"
	"errors"
	"sync"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// votes hears what the nodes answer to a call. An attempt fails as soon as too many nodes have failed: those that answer
// after that may still say who holds the resource. An attempt may also fail with the gate, and ask no other node. So the
// last answer of each node counts, of whichever attempt.
type votes struct {
	options lock.AcquireOptions // of the call, with the defaults of the engine

	mu     sync.Mutex
	asked  int             // and not answered yet
	heard  map[string]bool // nodes that have answered or failed; the others may hold the lock
	silent map[string]bool // by node, without those that granted; false if it refused, or failed in another way
	done   chan struct{}
}

func (v *votes) trace() *locktrace.Trace {
	return &locktrace.Trace{
		AcquireStart: func(ctx context.Context, e locktrace.AcquireStart) context.Context {
			v.mu.Lock() // calls with the context of the lease are heard, too
			defer v.mu.Unlock()
			v.options = e.Options
			return ctx
		},
		NodeStart: func(ctx context.Context, e locktrace.NodeStart) context.Context {
			if e.Op == lock.OpAcquire {
				v.ask()
			}
			return ctx
		},
		NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
			if e.Op == lock.OpAcquire {
				v.answer(e)
			}
		},
	}
}

func (v *votes) ask() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
}

func (v *votes) answer(e locktrace.NodeEnd) {
	v.mu.Lock()
	defer v.mu.Unlock()
	heard := true
	switch {
	case e.Verdict == lock.VerdictGranted:
		delete(v.silent, e.Node)
	case e.Err == nil || silent(e.Err):
		v.silent[e.Node] = e.Err != nil
	case errors.Is(e.Err, driver.ErrUnheard), driver.ClassOf(e.Err) == driver.Busy: // the node was not asked, or not heard
		heard = false
	default:
		v.silent[e.Node] = false
	}
	if heard {
		v.heard[e.Node] = true
	}
	v.asked--
	if v.asked == 0 && v.done != nil {
		close(v.done)
		v.done = nil
	}
}

// tooFew waits until all nodes that were asked have answered or failed, which the node timeout bounds. It reports that no
// quorum of them can be reached, and none says anything else. It is false if a node was never asked, or ctx has ended.
func (v *votes) tooFew(ctx context.Context, quorum *lock.QuorumError) bool {
	v.mu.Lock()
	done := make(chan struct{})
	if v.asked == 0 {
		close(done)
	} else {
		v.done = done
	}
	v.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, silent := range v.silent {
		if !silent {
			return false
		}
	}
	tooFew := max(len(v.silent), len(quorum.Errors)) > quorum.Nodes-quorum.Quorum
	return tooFew && len(v.heard) == quorum.Nodes && ctx.Err() == nil
}
