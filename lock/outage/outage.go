// Package outage runs work without a lock while too few nodes can be reached, for callers who have decided that no run is
// worse than two at a time. Nothing else of lockscope does that, and nothing does it by default.
//
//	locks, err := instrument.Wrap(locker)
//	...
//	locker := outage.Wrap(locks, locks.Unprotected) // which counts and logs each run without a lock
//	err = lock.Do(ctx, locker, "nightly", work, lock.MaxWait(5*time.Second))
//
// The Locker works wherever one is wanted, such as in the adapters of lock/contrib.
//
// An outage is this, and nothing else: too few nodes can be reached or answer in time, and none of the others says that
// somebody holds the resource. A node that denies access, is in its quarantine or is configured for other nodes is no
// outage, and neither is an invalid call, or a ctx that has ended. Every node must have been asked: a call with
// [lock.Fair], or for a resource that others want, may ask one after another. Its wait must be long enough for a node
// timeout of each. Even so the resource may be held by somebody whose nodes cannot be reached from here: two run at a time
// then, and no fencing token tells them apart.
package outage

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Run is work that runs without a lock.
type Run struct {
	Resource string
	Err      error // why there is no lock: it matches lock.ErrNoQuorum
}

// Report receives each Run before it begins. It is called on the goroutine of Acquire, with its ctx.
type Report func(ctx context.Context, r Run)

// Wrap returns a Locker that acquires from next. During an outage it calls report, and returns a lease without a lock: its
// Fence is 0, its Remaining always the TTL, its Extend fails with the error of Acquire, and its context ends with ctx or at
// Release, which returns nil. A call with [lock.Fenced] gets no such lease and fails as without Wrap, and neither do
// elections, sets and semaphores: their terms and permits have numbers that nobody else may have.
//
// A call waits for the nodes as long as its options say: give [lock.NoWait] or [lock.MaxWait]. Once they have not answered,
// it waits for the rest of them, for a node timeout at most.
//
// Acquire fails with [lock.ErrInvalidOption] if next or report is nil.
func Wrap(next lock.Locker, report Report) lock.Locker { return &locker{next, report} }

type locker struct {
	next   lock.Locker
	report Report
}

// Acquire implements lock.Locker.
func (l *locker) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if l.next == nil || l.report == nil {
		return nil, fmt.Errorf("%w: %q: outage.Wrap needs a Locker and a Report", lock.ErrInvalidOption, resource)
	}
	v := votes{options: lock.NewAcquireOptions(opts...), heard: make(map[string]bool), silent: make(map[string]bool)}
	lease, err := l.next.Acquire(locktrace.With(ctx, v.trace()), resource, opts...)
	if err == nil {
		return lease, nil
	}
	o := v.options
	numbered := o.Fenced || o.Kind != "" && o.Mode == lock.ModeExclusive
	if quorum := unreachable(err); numbered || quorum == nil || !v.tooFew(ctx, quorum) {
		return nil, err
	}
	l.report(ctx, Run{Resource: resource, Err: err})
	return without(ctx, resource, o.TTL, err), nil
}

// unreachable returns why err is no quorum if all nodes that have failed could not be reached, or did not answer, and the
// call failed for no other reason: a wait that Close or a deadlock ends also has the error of its last attempt.
func unreachable(err error) *lock.QuorumError {
	reason := lock.ReasonOf(err)
	quorum, ok := errors.AsType[*lock.QuorumError](err)
	if !ok || reason != lock.ReasonNoQuorum && reason != lock.ReasonTimeout || quorum.Refused > 0 {
		return nil
	}
	for _, failed := range quorum.Errors {
		if !silent(failed.Err) {
			return nil
		}
	}
	return quorum
}

// silent reports that a node could not be reached, or did not answer.
func silent(err error) bool { return driver.ClassOf(err).Silent() || errors.Is(err, driver.ErrSilent) }
