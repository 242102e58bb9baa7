package simulation

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// newMinHolds is any history in which some locks have a minimum hold.
func newMinHolds(seed uint64) *plan {
	p := newPlan(seed, scope{})
	p.keeps = true
	r := rand.New(rand.NewPCG(seed, 6))
	for i := range p.clients {
		for _, ops := range p.clients[i].workers {
			for j := range ops {
				if o := &ops[j]; chance(r, 0.5) {
					o.minHold = 1 + upTo(r, simMaxTTL-simMaxTTL/50) // a node keeps no lock for longer than MaxTTL
					o.add("MinHold(%v)", o.minHold)(lock.MinHold(o.minHold))
					o.add("MaxHold(%v)", lock.DefaultMaxHold)(lock.MaxHold(lock.DefaultMaxHold))
				}
			}
		}
	}
	return p
}

// TestSimulationMinHold: no two leases are valid, and nobody is granted what was released within its minimum hold before
// that has passed since the grant (M1), if a quorum had the release in time.
func TestSimulationMinHold(t *testing.T) {
	var kept atomic.Int64
	count, _ := simulate(t, simHistories/4, simRaceHistories/3, func(seed uint64) (*plan, plant) {
		return newMinHolds(seed), plant{wrap: func(h *history, _ int, n driver.BlockingNode) driver.BlockingNode {
			return keeper{n, h, &kept}
		}}
	})
	t.Logf("%d nodes have kept a lock", kept.Load())
	if int(kept.Load()) < count && !t.Failed() {
		t.Error("hardly any lock was kept")
	}
}

// keeper notes the nodes that keep a lock.
type keeper struct {
	driver.BlockingNode
	h    *history
	kept *atomic.Int64
}

func (n keeper) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	reply, err := n.BlockingNode.Extend(ctx, req)
	if req.Final && reply == driver.ExtendDone {
		n.kept.Add(1)
		n.h.mu.Lock()
		defer n.h.mu.Unlock()
		n.h.keepers[req.Token] = append(n.h.keepers[req.Token], n.Name())
	}
	return reply, err
}

// keeps notes until when nobody else may be granted what was released: for the minimum hold from the grant on, by the
// client's clock.
func (h *history) keeps(rec *leaseRecord, o *op) {
	if o.minHold > 0 {
		rec.kept = rec.decided + h.truly(rec, o.minHold)
	}
}

// checkMinHolds checks all leases of the history (M1).
func (h *history) checkMinHolds() {
	for _, a := range h.leases {
		slices.Sort(h.keepers[a.token])
		if len(slices.Compact(h.keepers[a.token])) <= len(h.servers)/2 {
			continue
		}
		for _, b := range h.leases {
			if a != b && a.name == b.name && errors.Is(a.cause, lock.ErrReleased) && b.returned >= a.ended && b.returned < a.kept-time.Microsecond {
				h.violate("M1 %v\n  was granted within the minimum hold, until %v, of %v", b, a.kept, a)
			}
		}
	}
}
