package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// worker is one goroutine of a client.
func (h *history) worker(c, w int, ops []op) {
	if change := h.plan.change; change != nil && change.first() && h.plan.members(c) == change.to {
		<-h.changed
	}
	for i := range ops {
		time.Sleep(ops[i].before)
		_ = h.act(c, fmt.Sprintf("c%dw%do%d", c, w, i), &ops[i])
	}
}

// act acquires, works and releases with what the plan is about.
func (h *history) act(c int, id string, o *op) (err error) {
	switch h.plan.kind {
	case lock.KindElection:
		return h.lead(c, id, o)
	case lock.KindSet:
		return h.holdSet(c, id, o)
	case lock.KindSemaphore:
		return h.holdPermit(c, id, o)
	}
	_, err = h.perform(c, id, o)
	return err
}

// perform acquires, works and releases, as o says.
func (h *history) perform(c int, id string, o *op) (*leaseRecord, error) {
	rec := &leaseRecord{id: id, name: resourceName(o.resource), client: c, started: h.now()}
	ctx, cancel := context.WithCancel(locktrace.WithTraceparent(context.WithValue(context.Background(), leaseKey{}, rec), id))
	defer cancel()
	if o.cancel > 0 {
		timer := time.AfterFunc(o.cancel, cancel)
		defer timer.Stop()
	}
	h.log("%s acquires %v", id, o)
	lease, err := h.clients[c].locker.Acquire(locktrace.With(ctx, h.hooks(rec, o.stall)), rec.name, o.options...)
	if err != nil {
		h.log("%s fails: %v", id, err)
		h.checkHeldError(id, err)
		return nil, err
	}
	h.acquired(rec, lease)
	h.work(rec, o)
	h.release(rec, o)
	return rec, nil
}

func resourceName(i int) string { return fmt.Sprintf("res%d", i) }

// hooks keeps the record's expiry in step with renewals. It also breaks loops that do not wait, which would stop time
// in a bubble, and stalls the process just after an attempt is decided, as a garbage collector or a hypervisor may. The
// lease of a set is acquired in the context of another one, whose hooks then hear of both.
func (h *history) hooks(rec *leaseRecord, stall time.Duration) *locktrace.Trace {
	const tooMany = 100
	var attempts int
	var at time.Duration
	tr := &locktrace.Trace{
		AttemptStart: func(ctx context.Context, e locktrace.AttemptStart) context.Context {
			if recordOf(ctx) != rec {
				return ctx
			}
			if h.now() != at {
				attempts, at = 0, h.now()
			}
			if attempts++; attempts >= tooMany {
				h.violate("I8 %s: %d attempts without a pause (this is attempt %d)", rec.id, tooMany, e.Attempt)
				time.Sleep(20 * time.Millisecond)
			}
			return ctx
		},
		AttemptEnd: func(ctx context.Context, e locktrace.AttemptEnd) {
			if recordOf(ctx) != rec {
				return
			}
			h.log("%s attempt %d (gate first %v): %d granted, %d refused, %d failed: %v", rec.id, e.Attempt,
				e.GateFirst, e.Granted, e.Refused, e.Failed, e.Err)
			rec.decided = h.now()
			time.Sleep(stall)
		},
		AcquireEnd: func(ctx context.Context, e locktrace.AcquireEnd) {
			if recordOf(ctx) == rec {
				rec.handed = e.HandedOver
			}
		},
		RenewEnd: func(ctx context.Context, e locktrace.RenewEnd) {
			if recordOf(ctx) != rec {
				return
			}
			h.log("%s renewal: %v, %v left, %v", rec.id, e.Outcome, e.Left, e.Err)
			if e.Outcome == locktrace.RenewDone {
				h.mu.Lock()
				rec.renewed = h.now()
				rec.expiry = max(rec.expiry, h.now()+h.truly(rec, e.Left))
				h.mu.Unlock()
			}
		},
	}
	h.observeTurn(rec, tr)
	return tr
}

func (h *history) acquired(rec *leaseRecord, lease lock.Lease) {
	log := h.acquireLog(rec.id)
	h.mu.Lock()
	rec.lease, rec.fence, rec.returned, rec.token, rec.grant = lease, lease.Fence(), h.now(), log.token, rec
	if rec.handed {
		rec.grant = h.latestGrant(rec)
		rec.token = rec.grant.token
	}
	rec.expiry = rec.returned + h.truly(rec, lease.Remaining())
	h.leases = append(h.leases, rec)
	h.mu.Unlock()
	h.log("%s HOLDS %s with fence %d and token %.6s for %v, handed over: %v", rec.id, rec.name, rec.fence,
		rec.token, lease.Remaining(), rec.handed)
	context.AfterFunc(lease.Context(), func() { h.contextEnded(rec) })
}

// latestGrant returns the grant of this client's previous lease. The caller must hold the mutex.
func (h *history) latestGrant(rec *leaseRecord) *leaseRecord {
	for _, before := range slices.Backward(h.leases) {
		if before.client == rec.client && before.name == rec.name {
			return before.grant
		}
	}
	return rec // its token stays unknown, which I4 detects
}

// truly returns the true time for a time by the client's clock.
func (h *history) truly(rec *leaseRecord, d time.Duration) time.Duration {
	return time.Duration(float64(d) / h.plan.clients[rec.client].rate)
}

// work holds the lease, extends it by hand, and writes to the register that it guards.
func (h *history) work(rec *leaseRecord, o *op) {
	r := rand.New(rand.NewPCG(h.plan.seed, uint64(rec.started)))
	over := time.NewTimer(o.hold)
	defer over.Stop()
	var extend <-chan time.Time
	if o.extend > 0 {
		tick := time.NewTicker(o.extend)
		defer tick.Stop()
		extend = tick.C
	}
	h.register(rec.name).update(h, rec.id, rec.fence, upTo(r, o.register+1))
	done := rec.lease.Context().Done()
	if o.deaf {
		done = nil
	}
	for {
		select {
		case <-over.C:
			return
		case <-done:
			return
		case <-extend:
			h.extend(rec)
		}
	}
}

func (h *history) extend(rec *leaseRecord) {
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), leaseKey{}, rec), time.Second)
	defer cancel()
	err := rec.lease.Extend(ctx)
	h.log("%s extends by hand: %v", rec.id, err)
	if err == nil && rec.lease.Context().Err() == nil && rec.lease.Remaining() <= 0 {
		h.violate("I5 %s: Extend succeeded and left nothing", rec.id)
	}
}

func (h *history) release(rec *leaseRecord, o *op) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if o.cancelled {
		cancel()
	}
	h.mu.Lock()
	rec.released = true
	if !rec.over {
		rec.over, rec.ended = true, h.now()
	}
	h.mu.Unlock()
	h.log("%s releases", rec.id)
	err := rec.lease.Release(ctx)
	h.log("%s has released: %v", rec.id, err)
	if err == nil {
		h.keeps(rec, o)
	}
	if rec.lease.Context().Err() == nil {
		h.violate("I5 %s: the lease's context survived Release", rec.id)
	}
	if o.twice {
		if again := rec.lease.Release(context.Background()); !errors.Is(again, err) && again != err {
			h.violate("%s: Release returned %v, and then %v", rec.id, err, again)
		}
	}
}
