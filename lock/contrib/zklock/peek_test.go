package zklock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/engine"
)

func TestObserve(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 1)
	observed(t, func() *engine.Engine { return locker(t, e) }, true)
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
