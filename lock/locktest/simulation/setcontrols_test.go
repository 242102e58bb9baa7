//go:build !race

package simulation

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// naiveSet is a set with one rule missing.
type naiveSet struct {
	leases []lock.Lease

	asGiven  bool // acquires in the order in which the caller names the locks
	apart    bool // the loss of one lease is not that of the others
	forwards bool // releases first what was acquired first
	leaky    bool // keeps what it has if it cannot get all
}

func (s naiveSet) acquire(ctx context.Context, l lock.Locker, names []string, opts ...lock.AcquireOption) (
	heldSet, error,
) {
	if !s.asGiven {
		names = slices.Sorted(slices.Values(names))
	}
	inner := ctx
	for _, name := range names {
		lease, err := l.Acquire(inner, name, opts...)
		if err != nil {
			if !s.leaky {
				_ = s.Release(context.WithoutCancel(ctx))
			}
			return nil, err
		}
		s.leases = append(s.leases, lease)
		if !s.apart {
			inner = lease.Context()
		}
	}
	return s, nil
}

func (s naiveSet) Context() context.Context { return s.leases[len(s.leases)-1].Context() }

func (s naiveSet) Remaining() time.Duration { return s.leases[len(s.leases)-1].Remaining() }

func (s naiveSet) Fences() map[string]uint64 {
	fences := make(map[string]uint64)
	for _, lease := range s.leases {
		fences[lease.Resource()] = lease.Fence()
	}
	return fences
}

func (s naiveSet) Lost() (string, error) {
	return "", context.Cause(s.Context())
}

func (s naiveSet) Release(ctx context.Context) (err error) {
	leases := slices.Clone(s.leases)
	if !s.forwards {
		slices.Reverse(leases)
	}
	for _, lease := range leases {
		err = errors.Join(err, lease.Release(ctx))
	}
	return err
}

// Each rule of a set prevents a history that goes wrong without it. A set with all of them does not go wrong.
func TestSimulationNoticesFlawsOfSets(t *testing.T) {
	for name, flaw := range map[string]struct {
		invariant string
		scope     scope
		set       naiveSet
	}{
		"two sets overlap":          {"S1", scope{alwaysBad: true}, naiveSet{apart: true}},
		"a set that failed":         {"S3", scope{alwaysBad: true}, naiveSet{leaky: true}},
		"the loss of one":           {"S4", scope{alwaysBad: true}, naiveSet{apart: true}},
		"released forwards":         {"S5", scope{}, naiveSet{forwards: true}},
		"acquired in another order": {"I8", scope{}, naiveSet{asGiven: true}},
	} {
		t.Run(name, func(t *testing.T) {
			mustFindIn(t, lock.KindSet, flaw.invariant, flaw.scope, plant{set: flaw.set.acquire})
		})
	}
}
