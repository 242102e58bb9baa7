package etcdlock_test

import (
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/engine"
)

// TestPeekWritesNothing: the revision of the cluster stays, whatever is there.
func TestPeekWritesNothing(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	l, db := locker(t, c), client(t, c)
	revision := func() int64 {
		resp, err := db.Get(t.Context(), "none", clientv3.WithCountOnly())
		must(t, err)
		return resp.Header.Revision
	}
	peek := func(held bool) {
		t.Helper()
		before := revision()
		s, err := l.Peek(t.Context(), "job")
		if must(t, err); s.Held != held || revision() != before {
			t.Errorf("%+v at revision %d after %d", s, revision(), before)
		}
	}
	peek(false)
	lease, err := l.Acquire(t.Context(), "job")
	must(t, err)
	peek(true)
	must(t, lease.Release(t.Context()))
	peek(false)
}

func TestObserve(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	observed(t, func() *engine.Engine { return locker(t, c) }, true)
}

// observed campaigns, resigns, and campaigns again beside an observer, which sees each of it.
func observed(t *testing.T, newLocker func() *engine.Engine, fences bool) {
	t.Helper()
	first, second := newLocker(), newLocker()
	observer := newLocker()
	must(t, errors.Join(campaigned(t, first, observer, fences), campaigned(t, second, observer, fences)))
}

func campaigned(t *testing.T, l, observer *engine.Engine, fences bool) error {
	t.Helper()
	term, err := election.Campaign(t.Context(), l, "billing")
	if err != nil {
		return err
	}
	led := false
	for seen, err := range election.Observe(t.Context(), observer, "billing", election.Interval(50*time.Millisecond)) {
		switch {
		case err != nil:
			return err
		case !led && !seen.Vacant:
			if led = true; seen.Leader.Kind != lock.KindElection || fences && seen.Term != term.Number() {
				t.Errorf("%+v, want term %d", seen, term.Number())
			}
			if err := term.Resign(t.Context()); err != nil {
				return err
			}
		case led && seen.Vacant:
			return nil
		}
	}
	return t.Context().Err()
}
