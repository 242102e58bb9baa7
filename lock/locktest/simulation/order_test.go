package simulation

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const (
	handOverWindow = 10 * time.Millisecond // how long after its grant a lock may be handed over in a process
	handoffWindow  = 50 * time.Millisecond // how long a lock is kept for the process that was named
)

// turn is one call of Acquire among those that want the same lock, or any slot of a semaphore. Its times are true time
// since the beginning; 0 means never. Guarded by history.mu.
type turn struct {
	rec  *leaseRecord
	line string
	opts lock.AcquireOptions

	began     time.Duration
	inLine    time.Duration // when a call for it that comes later has to wait behind it
	contends  time.Duration // when its first attempt began
	gateFirst bool          // its latest attempt asked the gate before the others
	placed    time.Duration // when it learned of its place in the queue
	granted   time.Duration // when the node with that queue first granted after that
	served    time.Duration // when an attempt won, or the lock was handed over
	wins      int           // more than one if a lease ran out before Acquire returned it
	handed    bool
	ended     time.Duration // when Acquire returned
}

// naming is one message to a process: a lock, or a slot, is kept for it.
type naming struct {
	client int
	name   string
	at     time.Duration
}

// waits reports that the call queued, in its process and on a node.
func (t *turn) waits() bool { return !t.opts.NoWait }

// tookOnce reports that the call won at most once, and then was served. Another one contended again with its lease run
// out.
func (t *turn) tookOnce() bool { return t.wins == 0 || t.wins == 1 && t.served > 0 }

// until is when the call was served, or gave up.
func (t *turn) until() time.Duration { return cmp.Or(t.served, t.ended) }

// observeTurn keeps the turn of an Acquire in step with its events.
func (h *history) observeTurn(rec *leaseRecord, tr *locktrace.Trace) {
	var t *turn
	is := func(ctx context.Context, do func()) {
		if recordOf(ctx) != rec {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		do()
	}
	tr.AcquireStart = func(ctx context.Context, e locktrace.AcquireStart) context.Context {
		is(ctx, func() {
			t = &turn{rec: rec, line: e.Resource, opts: e.Options, began: rec.started}
			if e.Options.Slots == 0 || rec.lined {
				t.inLine = t.began // calls for a semaphore may look at its slots at the same time, before one waits
			}
			h.turns[rec.id] = t
		})
		return ctx
	}
	started, ended, over := tr.AttemptStart, tr.AttemptEnd, tr.AcquireEnd
	waits := tr.WaitStart
	tr.WaitStart = func(ctx context.Context, e locktrace.WaitStart) context.Context {
		is(ctx, func() { t.inLine = cmp.Or(t.inLine, h.now()) })
		if waits == nil {
			return ctx
		}
		return waits(ctx, e)
	}
	tr.AttemptStart = func(ctx context.Context, e locktrace.AttemptStart) context.Context {
		is(ctx, func() {
			t.gateFirst = e.GateFirst
			t.contends = cmp.Or(t.contends, h.now())
		})
		return started(ctx, e)
	}
	tr.AttemptEnd = func(ctx context.Context, e locktrace.AttemptEnd) {
		is(ctx, func() {
			if e.Err == nil {
				t.served = h.now()
				t.wins++
			}
		})
		ended(ctx, e)
	}
	tr.AcquireEnd = func(ctx context.Context, e locktrace.AcquireEnd) {
		is(ctx, func() {
			t.ended = h.now()
			switch {
			case e.Err != nil:
				t.served = 0
			case e.HandedOver:
				t.served, t.handed = h.now(), true
				t.wins++
			}
		})
		over(ctx, e)
	}
}

// answered notes what the node with the queue answered a call.
func (h *history) answered(id string, granted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.turns[id]
	switch {
	case t == nil:
	case granted && t.placed > 0:
		t.granted = cmp.Or(t.granted, h.now())
	case granted:
	default:
		t.placed = cmp.Or(t.placed, h.now())
	}
}

// notesNamings returns what a server calls with its mutex held: nothing there may ask it.
func (h *history) notesNamings() func(waiter, key string) {
	return func(waiter, key string) {
		h.names.Lock()
		defer h.names.Unlock()
		h.namings = append(h.namings, naming{h.processes[waiter], strings.TrimPrefix(key, lock.DefaultPrefix), h.now()})
	}
}

// named returns the namings for a line after one instant and until another one.
func (h *history) named(line string, after, until time.Duration) (all []naming) {
	for _, n := range h.namings {
		if n.at > after && n.at <= until && (n.name == line || strings.HasPrefix(n.name, line+"#")) {
			all = append(all, n)
		}
	}
	return all
}

// checkOrder checks who was served before whom. Callers of one process are served in the order in which they came (Q1).
// Processes get what is released in the order of their places in the queue (Q2). A process keeps a lock from the others
// by handing it over for no longer than its documentation says (Q3).
func (h *history) checkOrder() {
	lines := make(map[string][]*turn)
	for _, t := range h.turns {
		lines[t.line] = append(lines[t.line], t)
		if t.handed && t.served > t.rec.grant.returned+handOverWindow+time.Millisecond {
			h.violate("Q3 handed over %v after the grant:\n  %v", t.served-t.rec.grant.returned, t.rec)
		}
	}
	for _, all := range lines {
		for _, first := range all {
			for _, later := range all {
				if first.waits() && later.served > 0 && first.until() > later.served && first.tookOnce() && later.wins == 1 {
					h.checkOvertaken(first, later)
				}
			}
		}
	}
}

// checkOvertaken checks two calls. The later one was served while the first one waited.
func (h *history) checkOvertaken(first, later *turn) {
	if first.rec.client == later.rec.client {
		if later.waits() && first.inLine > 0 && first.inLine < later.began {
			h.violate("Q1 a call was served before one that came earlier in its process:\n  %v\n  %v", later.rec, first.rec)
		}
		return
	}
	// Messages that are lost, nodes that fail, nodes without one queue for all slots, and locks that are kept after their
	// release change the order.
	if !h.plan.calm || h.plan.keeps || later.opts.Slots > 0 && h.plan.queueEach() || later.handed || first.placed == 0 || first.placed >= later.contends {
		return
	}
	if first.granted > 0 && first.granted < later.served {
		return // a node took it out of the queue, and the others refused: it may have been on its way back
	}
	var others []naming
	for _, n := range h.named(first.line, first.placed-handoffWindow, later.served) {
		switch {
		case n.client == first.rec.client:
			return // it had its turn: it did not answer in time, or the message for a call before it came too late
		case n.client == later.rec.client && later.placed > 0 && n.at > later.placed:
			h.violate("Q2 a process was named before one that was in front:\n  %v\n  %v", later.rec, first.rec)
			return
		}
		others = append(others, n)
	}
	if len(others) > 0 && others[len(others)-1].client == later.rec.client {
		return // what another call of its process was named for
	}
	one := len(h.plan.rates) == 1
	switch {
	case later.opts.Fair && later.gateFirst || later.opts.Fair && one:
		h.violate("Q2 a fair call overtook one in the queue:\n  %v\n  %v", later.rec, first.rec)
	case one && len(others) > 0 && later.served-others[len(others)-1].at < handoffWindow-timerError &&
		!h.gaveUp(others[len(others)-1], later.served):
		h.violate("Q2 a call took what was kept for another process:\n  %v\n  %v", later.rec, first.rec)
	case one && len(others) == 0 && h.wasReleased(later, first.placed):
		h.violate("Q2 a release named nobody:\n  %v\n  %v", later.rec, first.rec)
	}
}

// gaveUp reports that a call of the process that was named gave up before an instant. What it gave back is free without a
// release.
func (h *history) gaveUp(n naming, before time.Duration) bool {
	for _, t := range h.turns {
		if t.rec.client == n.client && (t.line == n.name || strings.HasPrefix(n.name, t.line+"#")) && t.served == 0 && t.ended >= n.at && t.ended <= before {
			return true
		}
	}
	return false
}

// wasReleased reports that what a call got had been released, and not just run out, after an instant.
func (h *history) wasReleased(t *turn, after time.Duration) bool {
	var before *leaseRecord
	for _, rec := range h.leases {
		if rec.name == t.rec.name && rec.returned < t.served && (before == nil || rec.returned > before.returned) {
			before = rec
		}
	}
	return before != nil && before.ended > after && errors.Is(before.cause, lock.ErrReleased)
}
