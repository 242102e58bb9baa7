package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// revokeAct is an operator who ends the lease of whoever holds a resource.
type revokeAct struct {
	at               time.Duration
	client, resource int
}

// revokePatience is how long an operator tries again.
const revokePatience = 2 * time.Second

// newRevokes is any history with operators in it.
func newRevokes(seed uint64) *plan {
	p := newPlan(seed, scope{})
	r := rand.New(rand.NewPCG(seed, 5))
	for range 1 + r.IntN(3) {
		p.revokes = append(p.revokes, revokeAct{upTo(r, 2*time.Second), r.IntN(len(p.clients)), r.IntN(p.resources)})
	}
	return p
}

// TestSimulationRevokes: no two leases are valid, and a lease that was revoked has ended by the time that its operator
// was told (V1).
func TestSimulationRevokes(t *testing.T) {
	var revoked atomic.Int64
	count, _ := simulate(t, simHistories/4, simRaceHistories/3, func(seed uint64) (*plan, plant) {
		return newRevokes(seed), plant{revoked: func() { revoked.Add(1) }}
	})
	t.Logf("%d leases were revoked", revoked.Load())
	if int(revoked.Load()) < count/2 && !t.Failed() {
		t.Error("hardly any lease was revoked")
	}
}

func (h *history) revoke(i int, a revokeAct) {
	time.Sleep(a.at)
	req := engine.RevokeRequest{By: fmt.Sprint("operator", i), Reason: "simulated"}
	for end := h.now() + revokePatience; h.now() < end; time.Sleep(simNodeTimeout / 2) {
		r, err := h.clients[a.client].redis.Revoke(context.Background(), resourceName(a.resource), req)
		if err != nil {
			continue
		}
		h.log("    %s revokes %s: %d of %d nodes, free in %v, again %v", req.By, r.Resource, r.Marked, r.Nodes, r.FreeIn,
			r.Holders[0].Again)
		if h.plant.revoked != nil {
			h.plant.revoked()
		}
		h.checkRevoked(r)
		return
	}
}

// checkRevoked waits for the promised time. A node that goes back to an older copy of its data may have lost the mark.
func (h *history) checkRevoked(r engine.Revocation) {
	time.Sleep(r.FreeIn + r.FreeIn/100 + timerError)
	if h.plan.wipes {
		return
	}
	h.mu.Lock()
	leases, mark := slices.Clone(h.leases), r.Holders[0].Mark
	h.mu.Unlock()
	for _, rec := range leases {
		left := rec.lease.Remaining()
		if rec.name == r.Resource && rec.lease.Context().Err() == nil && left > 0 && h.marked(rec, mark) {
			h.violate("V1 %v: was revoked by %s and is valid for %v more", rec, mark.By, left)
		}
	}
}

// marked reports that a quorum has this mark for a lease. Its operator may have marked another lease since.
func (h *history) marked(rec *leaseRecord, mark lock.RevokedError) bool {
	n, begins := 0, fmt.Sprintf("%s|%d|", mark.By, mark.Since.UnixMilli())
	for _, s := range h.servers {
		if strings.HasPrefix(s.Mark(lock.DefaultPrefix+rec.name, rec.token), begins) {
			n++
		}
	}
	return n > len(h.servers)/2
}
