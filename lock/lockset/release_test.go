package lockset_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/lockset"
	"github.com/lockscope/lockscope/lock/memlock"
)

// failing is a Locker whose releases fail after they are made.
type failing struct {
	lock.Locker
	errs     map[string]error
	released []string
}

func (f *failing) Acquire(ctx context.Context, name string, opts ...lock.AcquireOption) (lock.Lease, error) {
	lease, err := f.Locker.Acquire(ctx, name, opts...)
	if err != nil {
		return nil, err
	}
	return &failingLease{lease, f}, nil
}

type failingLease struct {
	lock.Lease
	locker *failing
}

func (l *failingLease) Release(ctx context.Context) error {
	l.locker.released = append(l.locker.released, l.Resource())
	return errors.Join(l.Lease.Release(ctx), l.locker.errs[l.Resource()])
}

// TestReleaseGoesOn after an error, in reverse order, and keeps every error.
func TestReleaseGoesOn(t *testing.T) {
	nodes := memlock.NewNodes(1)
	first, last := errors.New("first"), errors.New("last")
	for what, release := range map[string]func(*failing) error{
		"Release": func(f *failing) error {
			set, err := lockset.Acquire(t.Context(), f, []string{"a", "b", "c"})
			must(t, err)
			return set.Release(t.Context())
		},
		"Do": func(f *failing) error {
			return lockset.Do(t.Context(), f, []string{"a", "b", "c"},
				func(context.Context, *lockset.Set) error { return nil })
		},
	} {
		f := &failing{Locker: newLocker(t, nodes, what), errs: map[string]error{"a": first, "c": last}}
		if err := release(f); !errors.Is(err, first) || !errors.Is(err, last) {
			t.Errorf("%s: %v", what, err)
		}
		if !slices.Equal(f.released, []string{"c", "b", "a"}) {
			t.Errorf("%s: released in the order %v", what, f.released)
		}
		wantFree(t, f.Locker, "a", "b", "c")
	}
}

// TestTheNodesKnowTheKind: who is refused learns that the lock is one of a set.
func TestTheNodesKnowTheKind(t *testing.T) {
	nodes := memlock.NewNodes(3)
	set, err := lockset.Acquire(t.Context(), newLocker(t, nodes, "a"), []string{"a", "b"})
	must(t, err)
	_, err = newLocker(t, nodes, "b").Acquire(t.Context(), "b", lock.NoWait())
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Holder.Kind != lock.KindSet {
		t.Errorf("%v, of kind %q", err, held.Holder.Kind)
	}
	must(t, set.Release(t.Context()))
}
