package simulation

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// held is what a construct gives its caller: a term, a set or a permit.
type held interface {
	Context() context.Context
	Remaining() time.Duration
}

// holding is what a caller believes to have. Its times are true time since the beginning.
type holding struct {
	call     *call
	what     held
	group    string            // the semaphore; "" otherwise
	fences   map[string]uint64 // by name
	returned time.Duration

	// Guarded by history.mu.
	ended time.Duration // when its context ended or its release began, whichever came first
	over  bool
}

func (b *holding) String() string {
	return fmt.Sprintf("%s with %v: called %v, held from %v to %v (%v)", b.call.id, b.fences, b.call.started, b.returned,
		b.ended, context.Cause(b.what.Context()))
}

// code is the letter of a construct's invariants.
func (p *plan) code() string {
	switch p.kind {
	case lock.KindElection:
		return "E"
	case lock.KindSet:
		return "S"
	case lock.KindSemaphore:
		return "P"
	}
	return "I"
}

// holds notes what the call has got.
func (h *history) holds(p *call, what held, group string, fences map[string]uint64) *holding {
	b := &holding{call: p, what: what, group: group, fences: fences, returned: h.now()}
	h.mu.Lock()
	h.holdings = append(h.holdings, b)
	h.mu.Unlock()
	h.log("%s HOLDS %v for %v", p.id, fences, what.Remaining())
	context.AfterFunc(what.Context(), func() { h.end(b) })
	return b
}

func (h *history) end(b *holding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !b.over {
		b.over, b.ended = true, h.now()
	}
}

// use works for as long as o says, and writes to the registers that the fences guard.
func (h *history) use(b *holding, o *op) {
	r := rand.New(rand.NewPCG(h.plan.seed, uint64(b.returned)))
	over := time.NewTimer(o.hold)
	defer over.Stop()
	for name, fence := range b.fences {
		h.register(name).update(h, b.call.id, fence, upTo(r, o.register+1))
	}
	done := b.what.Context().Done()
	if o.deaf {
		done = nil
	}
	select {
	case <-over.C:
	case <-done:
	}
}

// letGo releases what the call has got.
func (h *history) letGo(b *holding, o *op, release func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if o.cancelled {
		cancel()
	}
	h.end(b)
	err := release(ctx)
	h.log("%s has let go of %v: %v", b.call.id, b.fences, err)
	if o.twice {
		_ = release(context.Background())
	}
	if !o.cancelled { // else something may still be on its way
		b.call.checkNothingLeft(err)
	}
}

// checkBelief checks at one instant, with everything else at rest, that the context of what is held has ended if its
// validity has, or that of any of its leases (E4, S4, P4).
func (h *history) checkBelief(b *holding) {
	if b.what.Context().Err() != nil {
		return
	}
	if left := b.what.Remaining(); left <= -timerError {
		h.violate("%s4 %v: nothing remains and the context has not ended", h.plan.code(), b)
	}
	for _, rec := range b.call.records() {
		_, its := b.fences[rec.name]
		if its && b.fences[rec.name] == rec.fence && rec.lease.Context().Err() != nil {
			h.violate("%s4 %v: goes on after the loss of %v", h.plan.code(), b, rec)
		}
	}
}

// checkHoldings checks all that was held in the history: at most one of each name at a time, or as many permits of a
// semaphore as there are (E1, S1, P1). Fences are unique, and rise from one to any that is asked for later (E2, S2,
// P2).
func (h *history) checkHoldings() {
	groups := make(map[string][]*holding)
	names := make(map[string][]*holding)
	for _, b := range h.holdings {
		if b.group != "" {
			groups[b.group] = append(groups[b.group], b)
		}
		for name := range b.fences {
			names[name] = append(names[name], b)
		}
	}
	for name, all := range names {
		h.checkAtMost(1, name, all)
		h.checkRising(name, all)
	}
	for group, all := range groups {
		h.checkAtMost(h.plan.permits, group, all)
	}
}

// checkAtMost goes through the instants at which something begins or ends.
func (h *history) checkAtMost(most int, name string, all []*holding) {
	all = slices.DeleteFunc(slices.Clone(all), func(b *holding) bool { return b.ended <= b.returned })
	slices.SortFunc(all, func(x, y *holding) int { return cmp.Compare(x.returned, y.returned) })
	var valid []*holding
	for _, b := range all {
		valid = slices.DeleteFunc(valid, func(other *holding) bool { return other.ended <= b.returned })
		if valid = append(valid, b); len(valid) > most {
			h.violate("%s1 more than %d hold %s:\n  %v", h.plan.code(), most, name, valid)
		}
	}
}

func (h *history) checkRising(name string, all []*holding) {
	if h.plan.steps {
		return // nodes lost their counters, and no clock replaces them
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			first, second := a, b
			if b.returned < a.call.started {
				first, second = b, a
			}
			x, y := first.fences[name], second.fences[name]
			switch {
			case x == y:
				h.violate("%s2 one fence of %s twice:\n  %v\n  %v", h.plan.code(), name, a, b)
			case first.returned < second.call.started && x > y:
				h.violate("%s2 the fence of %s decreased:\n  %v\n  %v", h.plan.code(), name, first, second)
			}
		}
	}
}
