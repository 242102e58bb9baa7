package outage

import (
	"context"
	"sync"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// votes hears what the nodes answer to a call. An attempt fails as soon as too many nodes have failed: those that answer
// after that may still say who holds the resource.
type votes struct {
	options lock.AcquireOptions // of the call, with the defaults of the engine

	mu      sync.Mutex
	asked   int  // and not answered yet
	attempt int  // the last one
	refused bool // by any node, in that attempt
	done    chan struct{}
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
				v.ask(e.Attempt)
			}
			return ctx
		},
		NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
			if e.Op == lock.OpAcquire {
				v.answer(e.Attempt, e.Err == nil && e.Verdict == lock.VerdictRefused)
			}
		},
	}
}

func (v *votes) ask(attempt int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if attempt > v.attempt {
		v.attempt, v.refused = attempt, false
	}
	v.asked++
}

func (v *votes) answer(attempt int, refused bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked--
	v.refused = v.refused || refused && attempt == v.attempt
	if v.asked == 0 && v.done != nil {
		close(v.done)
		v.done = nil
	}
}

// noneRefuses waits until all nodes that were asked have answered or failed, which the node timeout bounds. It is false if
// one of them refused, or if ctx has ended.
func (v *votes) noneRefuses(ctx context.Context) bool {
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
	return !v.refused && ctx.Err() == nil
}
