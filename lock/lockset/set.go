package lockset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Set is several locks held at once. Its methods are safe for concurrent use. Release of the zero value fails with
// lock.ErrNotHeld; Context and Remaining of it cannot be used.
type Set struct {
	names  []string
	leases []lock.Lease // in the order of the names; fewer while the set is acquired
}

// Names returns the names of the locks, sorted.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Context descends from the context given to Acquire, and is cancelled when the first lease ends. Its context.Cause is
// the cause of that lease's end; [Set.Lost] names the lease.
func (s *Set) Context() context.Context { return s.leases[len(s.leases)-1].Context() }

// Fences returns the fencing token of each lock.
func (s *Set) Fences() map[string]uint64 {
	fences := make(map[string]uint64, len(s.leases))
	for _, lease := range s.leases {
		fences[lease.Resource()] = lease.Fence()
	}
	return fences
}

// Remaining returns the least validity left of all leases; zero or less once one of them is over.
func (s *Set) Remaining() time.Duration {
	least := s.leases[0].Remaining()
	for _, lease := range s.leases[1:] {
		least = min(least, lease.Remaining())
	}
	return least
}

// Lost returns the lock whose lease ended the set, and why: the cause of its context. It returns "" and nil while all
// are held. After Release, cause is lock.ErrReleased unless a lease was lost before.
func (s *Set) Lost() (name string, cause error) {
	for _, lease := range s.leases {
		// Each context is a child of the one before: the first that has ended is why the others have.
		if cause := context.Cause(lease.Context()); cause != nil {
			return lease.Resource(), cause
		}
	}
	return "", nil
}

// Release releases the locks in reverse order and cancels Context. It releases every lock, even if ctx has ended or the
// release of another one failed: ctx bounds only how long it waits for answers. It returns the joined errors of the
// leases' Release. Further calls return the same.
func (s *Set) Release(ctx context.Context) (err error) {
	if len(s.leases) == 0 {
		return fmt.Errorf("lockset: %w: this is no set of locks: it comes from Acquire", lock.ErrNotHeld)
	}
	for _, lease := range slices.Backward(s.leases) {
		err = errors.Join(err, lease.Release(ctx))
	}
	return err
}

// releaseLost is Release after a lease was lost. That the nodes no longer hold a lease is no news then.
func (s *Set) releaseLost(ctx context.Context) (err error) {
	for _, lease := range slices.Backward(s.leases) {
		if released := lease.Release(ctx); !errors.Is(released, lock.ErrNotHeld) {
			err = errors.Join(err, released)
		}
	}
	return err
}

// Do acquires the set, runs fn and releases the set, also if fn panics. The context given to fn is the set's.
//
// Do returns the error of Acquire if fn did not run. Otherwise it joins the errors of fn and of the release. If a lease
// was lost while fn ran, Do fails with an error that names the lock and matches lock.ErrLost, lock.ErrMaxHold or
// lock.ErrClosed, even if fn returned nil.
func Do(ctx context.Context, l lock.Locker, names []string, fn func(ctx context.Context, set *Set) error,
	opts ...lock.AcquireOption,
) (err error) {
	set, err := Acquire(ctx, l, names, opts...)
	if err != nil {
		return err
	}
	defer func() {
		release := set.Release
		lost := set.loss()
		if lost != nil {
			release = set.releaseLost
		}
		err = errors.Join(err, lost, release(context.WithoutCancel(ctx)))
	}()
	return fn(set.Context(), set)
}

// loss is nil unless the engine or the nodes ended a lease.
func (s *Set) loss() error {
	name, cause := s.Lost()
	switch lock.ReasonOf(cause) {
	case lock.ReasonLost, lock.ReasonClosed:
		return fmt.Errorf("lockset: %q: %w", name, cause)
	}
	return nil
}
