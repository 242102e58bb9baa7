//go:build !race

package simulation

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// Processes that do not agree on the number of slots hold more permits than the smaller number.
func TestSimulationNoticesAnotherNumberOfSlots(t *testing.T) {
	mustFindIn(t, lock.KindSemaphore, "P1", scope{resources: 1},
		plant{semaphore: func(h *history, client int, name string) acquirePermit {
			return semaphoreOf(h, client, name, h.plan.permits+client%2)
		}})
}

// A permit without a TTL does not come back when its holder dies.
func TestSimulationNoticesPermitWithoutTTL(t *testing.T) {
	mustFindIn(t, lock.KindSemaphore, "P5", scope{resources: 1, deaths: true, alwaysBad: true},
		plant{wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode { return noTTL{n} }})
}

type noTTL struct{ driver.BlockingNode }

func (n noTTL) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	req.TTL = time.Hour
	return n.BlockingNode.Acquire(ctx, req)
}

func (n noTTL) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	req.TTL = time.Hour
	return n.BlockingNode.Extend(ctx, req)
}

// Each rule of a semaphore prevents a history that goes wrong without it.
func TestSimulationNoticesFlawsOfSemaphores(t *testing.T) {
	for name, flaw := range map[string]struct {
		invariant string
		flaw      naiveSemaphore
	}{
		"a call that failed keeps a slot": {"P3", naiveSemaphore{leaky: true}},
		"a permit that is lost goes on":   {"P4", naiveSemaphore{untimed: true}},
		"a call waits for one slot only":  {"P6", naiveSemaphore{oneQueue: true}},
	} {
		t.Run(name, func(t *testing.T) {
			mustFindIn(t, lock.KindSemaphore, flaw.invariant, scope{resources: 1, alwaysBad: true},
				plant{semaphore: flaw.flaw.make})
		})
	}
}

// naiveSemaphore tries each slot once and then waits for one. It has one rule missing.
type naiveSemaphore struct {
	leaky    bool // a call that ends while it waits keeps what it gets later
	untimed  bool // a permit's context does not end with its lease
	oneQueue bool // a call that waits does not look at the other slots
}

// naivePermit is a lease on a slot.
type naivePermit struct {
	lock.Lease
	slot    int
	untimed bool
}

func (p naivePermit) Slot() int { return p.slot }

func (p naivePermit) Context() context.Context {
	if p.untimed {
		return context.WithoutCancel(p.Lease.Context())
	}
	return p.Lease.Context()
}

func (s naiveSemaphore) make(h *history, client int, name string) acquirePermit {
	l := witness{h, client}
	return func(ctx context.Context, opts ...lock.AcquireOption) (permit, error) {
		asked := lock.NewAcquireOptions(opts...)
		for end := time.Now().Add(cmp.Or(asked.MaxWait, soon)); ; time.Sleep(soon / 20) {
			for slot := range h.plan.permits {
				lease, err := l.Acquire(ctx, slotName(name, slot), append(opts, lock.NoWait())...)
				if err == nil {
					return naivePermit{lease, slot, s.untimed}, nil
				}
			}
			waiting := ctx
			if s.leaky {
				waiting = context.WithoutCancel(ctx)
			}
			lease, err := l.Acquire(waiting, slotName(name, 0), append(opts, lock.MaxWait(s.patience()))...)
			switch {
			case err == nil && ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case err == nil:
				return naivePermit{lease, 0, s.untimed}, nil
			case ctx.Err() != nil || asked.NoWait || s.oneQueue || time.Now().After(end):
				return nil, err
			}
		}
	}
}

func (s naiveSemaphore) patience() time.Duration {
	if s.oneQueue {
		return atRestBound
	}
	return soon / 2
}
