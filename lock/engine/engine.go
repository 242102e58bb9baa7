package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/callsite"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/internal/workers"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Engine is a Locker over one node, or over a quorum of independent ones, of any
// driver. It is safe for concurrent use.
type Engine struct {
	cfg     *Settings
	id      string // names this process's waiter in queues
	nodes   []*node
	quorum  int
	backend lock.Backend
	queues  *queues
	workers *workers.Workers
	timers  await.Timers
	warm    warmUp

	done      chan struct{} // closed by Close
	closeOnce sync.Once
	closeErr  error

	attempts atomic.Uint64

	mu     sync.Mutex
	leases map[*lease]struct{}
}

// Close ends every wait with ErrClosed and every lease's context with ErrClosed
// as cause, waits for the commands under way (the node timeout bounds each) and
// closes its nodes. Leases not released before are not given back:
// the work they protect may still be running, so their keys live out their TTL.
// A dial under way is waited for too, at most the given client's DialTimeout or ten
// seconds; one that has not ended by then is left behind, and Close says so.
// Further calls return the first one's result.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() {
		close(e.done)
		for _, l := range e.openLeases() {
			l.stop(lock.ErrClosed)
		}
		e.workers.Close()
		errs := make([]error, len(e.nodes))
		var closing sync.WaitGroup
		for i, n := range e.nodes {
			closing.Go(func() { errs[i] = n.Close() })
		}
		closing.Wait()
		for _, f := range e.cfg.closers {
			errs = append(errs, f())
		}
		e.closeErr = errors.Join(errs...)
	})
	return e.closeErr
}

// Instance is what others see this process as: the name given with [lock.WithInstance], or its
// default, as far as a lock's value can hold it.
func (e *Engine) Instance() string { return records.Instance(e.cfg.Instance) }

func (e *Engine) openLeases() []*lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]*lease, 0, len(e.leases))
	for l := range e.leases {
		all = append(all, l)
	}
	return all
}

func (e *Engine) remember(l *lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leases[l] = struct{}{}
}

func (e *Engine) forget(l *lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.leases, l)
}

// Acquire implements [lock.Locker]. Calls for one resource from one engine are served
// first come, first served, and only one of them contends with other processes. For up to
// 10 ms after a grant, a release hands the lock over to the next of them that wants it
// alike, with a lease of its own, and asks no node.
func (e *Engine) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if err := lock.ValidateResource(resource); err != nil {
		return nil, err
	}
	a := &acquisition{
		engine: e, ts: hooks.Of(ctx), resource: resource, key: e.cfg.Prefix + resource,
		opts: e.cfg.acquireOptions(opts), parent: ctx, began: time.Now(),
	}
	if err := e.cfg.validateAcquire(a.opts); err != nil {
		return nil, fmt.Errorf("%w (resource %q)", err, resource)
	}
	a.graph = deadlock.NewCall(ctx, a.opts.FailOnDeadlock)
	if e.cfg.CallSites {
		a.origin.callSite = callsite.Nearest()
	}
	start := lock.AcquireStart{
		Resource: resource, Backend: e.backend, Nodes: len(e.nodes), Quorum: e.quorum,
		Options: a.opts, CallSite: a.origin.callSite,
	}
	if len(a.ts) > 0 {
		start.Holding = deadlock.InfoOf(a.graph.Leases())
	}
	a.traced = a.ts.AcquireStart(ctx, start)
	a.origin.traceparent = traceparentOf(a.traced)
	l, err := a.acquireLease()
	if len(a.ts) > 0 {
		end := lock.AcquireEnd{AcquireStart: start, Attempts: a.attempts, Took: time.Since(a.began), Err: err}
		if l != nil {
			end.Validity, end.Fence, end.HandedOver = l.validity, l.fence, l.handedOver
		}
		a.ts.AcquireEnd(a.traced, end)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// wakeUp makes the function that a node tells of this process being named. If nobody
// here waits any more, the next in the queue is named instead.
func (e *Engine) wakeUp(n *node) func(key string) {
	return func(key string) {
		if e.queues.wakeUp(key) {
			return
		}
		if resource, ours := strings.CutPrefix(key, e.cfg.Prefix); !ours || lock.ValidateResource(resource) != nil {
			return
		}
		req := &driver.LeaveRequest{Key: key, WaiterID: e.id, Handoff: handoffWindow}
		call := driver.Call{Context: context.Background(), Deadline: time.Now().Add(e.cfg.nodeTimeout(lock.DefaultTTL))}
		n.Leave(call, req, &leftUnasked{n, time.Now()})
	}
}

// validity is what is left of ttl for a grant asked for at instant began.
func (e *Engine) validity(ttl, began time.Duration) time.Duration {
	return ttl - Drift(ttl) - (e.cfg.Clock() - began)
}

// onlyWait is ctx where a caller that waits for one node's answer waits for nothing else.
func (e *Engine) onlyWait(ctx context.Context) callqueue.Waiter {
	if len(e.nodes) == 1 {
		return callqueue.Waiter{Context: ctx}
	}
	return callqueue.Waiter{}
}

// closing reports that Close was called.
func (e *Engine) closing() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// sleep pauses unless the engine is closed; it reports whether it is not.
func (e *Engine) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.done:
		return false
	}
}

// tombstoneTTL is how long after giving up a late acquire is still kept out.
func (e *Engine) tombstoneTTL() time.Duration { return max(e.cfg.MaxTTL, time.Minute) }
