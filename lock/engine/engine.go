package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/contest"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Engine is a Locker over one node, or over a quorum of independent ones, of any
// driver. It is safe for concurrent use.
type Engine struct {
	*nodes.Set
	core     contest.Core
	settings *Settings

	closeOnce sync.Once
	closeErr  error
}

// Close ends every wait with ErrClosed and every lease's context with ErrClosed
// as cause, waits for the commands under way (the node timeout bounds each) and closes
// its nodes. For at most one node timeout, it also waits until the calls of Acquire that it ends have undone their
// attempts and left their queues, and for releases that some nodes have not answered. Close does not release leases: the
// work they protect may still be running, so their keys live until their TTL is over. Close waits for a dial under way,
// too, for at most the given client's DialTimeout or ten seconds. A dial that has not
// ended by then is left behind, and Close returns an error.
// Further calls return the first one's result.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() {
		close(e.Done)
		e.core.Leases.Stop(lock.ErrClosed)
		e.Releases.Wait(e.Config.LongestNodeTimeout())
		e.Workers.Close()
		errs := make([]error, len(e.Nodes))
		var closing sync.WaitGroup
		for i, n := range e.Nodes {
			closing.Go(func() { errs[i] = n.Close() })
		}
		closing.Wait()
		for _, f := range e.settings.closers {
			errs = append(errs, f())
		}
		e.closeErr = errors.Join(errs...)
	})
	return e.closeErr
}

// Instance is the name by which others see this process: the one given with [lock.WithInstance], or
// the default, cut to what a lock's value can carry.
func (e *Engine) Instance() string { return records.Instance(e.Config.Instance) }

// Acquire implements [lock.Locker]. Calls for one resource from one engine are served
// first come, first served, and only one of them contends with other processes. For up to
// 10 ms after a grant, a release hands the lock to the next call, if both have the same TTL
// and neither is Fair, unrenewed or for a MinHold. That call gets a lease of its own, and no node is asked.
func (e *Engine) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if err := lock.ValidateResource(resource); err != nil {
		return nil, err
	}
	o := e.settings.Acquire.With(opts...)
	if err := e.settings.validateAcquire(o); err != nil {
		return nil, fmt.Errorf("%w (resource %q)", err, resource)
	}
	l, err := e.core.Acquire(ctx, resource, o, e.settings.CallSites)
	if err != nil {
		return nil, err
	}
	return l, nil
}
