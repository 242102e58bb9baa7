package lockset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// MaxSize is how many locks a set may have.
const MaxSize = 100

// Acquire acquires the locks in the order of their names, and returns when it holds all. opts apply to each lock,
// except that [lock.MaxWait] bounds the wait for all of them together.
//
// If it fails, it has released what it had acquired, in reverse order, and its error names the lock that it could not
// get: the error of [lock.Locker].Acquire, or why a lease that was already held ended meanwhile. Errors of these
// releases are joined to it.
//
// An empty set, more than MaxSize names, a duplicate, and a name that no lock can have fail with an error that matches
// lock.ErrInvalidOption or lock.ErrInvalidResource, before anything is sent.
func Acquire(ctx context.Context, l lock.Locker, names []string, opts ...lock.AcquireOption) (*Set, error) {
	names, err := sorted(l, names)
	if err != nil {
		return nil, err
	}
	budget := newBudget(lock.NewAcquireOptions(opts...).MaxWait)
	s := &Set{names: names}
	opts = append(slices.Clone(opts), lock.OfKind(lock.KindSet))
	inner := ctx
	for _, name := range names {
		lease, err := l.Acquire(inner, name, budget.limit(opts)...)
		if err != nil {
			return nil, s.giveUp(ctx, name, err)
		}
		s.leases = append(s.leases, lease)
		// The next lease ends with this one, and its wait counts as that of a caller that holds this one.
		inner = lease.Context()
	}
	return s, nil
}

// sorted returns the names in order, unless they are no set.
func sorted(l lock.Locker, names []string) ([]string, error) {
	if l == nil {
		return nil, fmt.Errorf("%w: lockset: the Locker must not be nil", lock.ErrInvalidOption)
	}
	if len(names) == 0 || len(names) > MaxSize {
		return nil, fmt.Errorf("%w: lockset: %d names: use 1 to %d", lock.ErrInvalidOption, len(names), MaxSize)
	}
	all := slices.Clone(names)
	slices.Sort(all)
	for i, name := range all {
		if err := lock.ValidateResource(name); err != nil {
			return nil, fmt.Errorf("lockset: %w", err)
		}
		if i > 0 && name == all[i-1] {
			return nil, fmt.Errorf("%w: lockset: %q is in the set twice: name each lock once", lock.ErrInvalidOption, name)
		}
	}
	return all, nil
}

// giveUp releases what the set holds. failed is the name whose Acquire returned err.
func (s *Set) giveUp(ctx context.Context, failed string, err error) error {
	if name, cause := s.Lost(); cause != nil && ctx.Err() == nil {
		err = fmt.Errorf("lockset: %q was lost while waiting for %q: %w", name, failed, errors.Join(cause, err))
	} else {
		err = fmt.Errorf("lockset: lock %d of %d: %w", len(s.leases)+1, len(s.names), err)
	}
	return errors.Join(err, s.releaseLost(context.WithoutCancel(ctx)))
}

// budget is the time that is left to wait.
type budget struct {
	bounded bool
	until   time.Time
}

func newBudget(d time.Duration) budget { return budget{d > 0, time.Now().Add(d)} }

// limit bounds the next wait by what is left.
func (b budget) limit(opts []lock.AcquireOption) []lock.AcquireOption {
	if !b.bounded {
		return opts
	}
	// Not 0, which would be no limit: a lock that is free is still acquired.
	return append(opts[:len(opts):len(opts)], lock.MaxWait(max(time.Until(b.until), time.Nanosecond)))
}
