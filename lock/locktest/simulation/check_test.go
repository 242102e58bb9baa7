package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// checkLeases checks all leases of the history. No two are valid at a time (I1). Fences are unique and increase (I2):
// from one grant to any grant that is asked for later, and from one lease to the lease that it is handed over to.
func (h *history) checkLeases() {
	for i, a := range h.leases {
		for _, b := range h.leases[i+1:] {
			if a.name != b.name {
				continue
			}
			if a.ended > a.returned && b.ended > b.returned && a.returned < b.ended && b.returned < a.ended {
				h.violate("I1 two valid leases of one resource:\n  %v\n  %v", a, b)
			}
			first, second := a, b
			if b.grant.returned < a.grant.started || a.grant == b.grant && b.returned < a.returned {
				first, second = b, a
			}
			switch {
			case h.plan.steps: // nodes lost their counters, and no clock replaces them
			case a.fence == b.fence:
				h.violate("I2 one fence twice:\n  %v\n  %v", a, b)
			case (first.grant == second.grant || first.grant.returned < second.grant.started) &&
				first.fence > second.fence:
				h.violate("I2 fence decreased:\n  %v\n  %v", first, second)
			}
		}
	}
}

// contextEnded checks the instant at which a lease's context ends (I5).
func (h *history) contextEnded(rec *leaseRecord) {
	cause, now := context.Cause(rec.lease.Context()), h.now()
	h.log("%s context ended: %v", rec.id, cause)
	h.mu.Lock()
	expiry := rec.expiry
	rec.cause = cause
	if !rec.over {
		rec.over, rec.ended = true, now
	}
	h.mu.Unlock()
	lost := errors.Is(cause, lock.ErrLost) && !rec.endedByOuter()
	if _, revoked := errors.AsType[*lock.RevokedError](cause); revoked && len(h.plan.revokes) > 0 {
		lost = false // before its validity ends
	}
	if left := rec.lease.Remaining(); lost && left > 0 {
		h.violate("I5 %v: lost with %v remaining", rec, left)
	}
	switch {
	case now > max(expiry, rec.returned)+timerError:
		h.violate("I5 %v: context ended %v after validity", rec, now-expiry)
	case lost && now < expiry-timerError && !h.plan.wipes:
		h.violate("I5 %v: called lost %v before validity ended, although no node forgot it", rec, expiry-now)
	}
}

// endedByOuter reports that the lease's context ended with that of another lease of a set.
func (r *leaseRecord) endedByOuter() bool {
	return r.outer != nil && r.outer.lease.Context().Err() != nil
}

// timerError bounds how far a client's timers are off its clock. Here its clock runs up to half a percent off, in
// controls one percent, and its timers run true. A lease sets no timer for more than a second.
const timerError = 12 * time.Millisecond

// probe checks at random instants, with everything else at rest, whether the holders' beliefs are true.
func (h *history) probe(stop <-chan struct{}) {
	r := rand.New(rand.NewPCG(h.plan.seed, 2))
	for {
		timer := time.NewTimer(1 + upTo(r, 200*time.Millisecond))
		select {
		case <-timer.C:
		case <-stop:
			timer.Stop()
			return
		}
		synctest.Wait()
		h.mu.Lock()
		leases, holdings := slices.Clone(h.leases), slices.Clone(h.holdings)
		h.mu.Unlock()
		for _, rec := range leases {
			h.checkHonesty(rec)
		}
		for _, b := range holdings {
			h.checkBelief(b)
		}
	}
}

// checkHonesty: while a lease is valid, a quorum holds its token for at least as long (I4). Once it is not, its context
// has ended (I5).
func (h *history) checkHonesty(rec *leaseRecord) {
	h.mu.Lock()
	released := rec.released
	h.mu.Unlock()
	left := rec.lease.Remaining()
	if left <= 0 {
		if left <= -timerError && rec.lease.Context().Err() == nil {
			h.violate("I5 %v: nothing remains and the context has not ended", rec)
		}
		return
	}
	if released || h.plan.wipes {
		return
	}
	holding := 0
	members := h.servers[:h.plan.members(rec.client)]
	for _, s := range members {
		if held, ok := s.Lock(lock.DefaultPrefix + rec.name); ok && held.Token == rec.token &&
			held.Left >= h.truly(rec, left) {
			holding++
		}
	}
	if holding < len(members)/2+1 {
		h.violate("I4 %v: %v remain, but only %d of %d nodes hold it for so long", rec, left, holding, len(members))
	}
}

// checkHeldError: no caller is refused because of keys that its own earlier attempts left behind (I10), unless a node
// has not confirmed their release yet.
func (h *history) checkHeldError(id string, err error) {
	if !errors.Is(err, lock.ErrHeld) {
		return
	}
	log := h.acquireLog(id)
	h.mu.Lock()
	own := len(log.refusals) > 0
	for _, r := range log.refusals {
		own = own && r.own && r.undone
	}
	h.mu.Unlock()
	if own && !h.plan.repeats {
		h.violate("I10 %s: told that the lock is held, by its own key: %v", id, err)
	}
}

// checkLiveness: after all faults have ended, every client soon gets every lock (I8).
func (h *history) checkLiveness() {
	h.copiesExpire()
	var all sync.WaitGroup
	for _, i := range h.alive() { // a process of an old configuration has to be stopped
		all.Go(func() {
			for res := range h.plan.resources {
				o := h.plan.atRest(res)
				if err := h.act(i, fmt.Sprintf("c%dend%d", i, res), o); err != nil {
					h.violate("I8 client %d did not get res%d in %v with nothing wrong any more: %v", i, res, atRestBound,
						err)
				}
			}
		})
	}
	all.Wait()
}

// copiesExpire waits for the locks that a replica copied from a server whose clock was ahead.
func (h *history) copiesExpire() {
	for i, s := range h.servers {
		if !slices.ContainsFunc(h.plan.nodes[i], func(f fault) bool { return f.kind == borrowed }) {
			continue
		}
		for _, held := range s.Locks() {
			if held.Left > 2*simMaxTTL {
				time.Sleep(held.Left)
			}
		}
	}
}

// checkQuiescence: nothing is left behind (I6, I7).
func (h *history) checkQuiescence() {
	time.Sleep(simLateBy + time.Second)
	for i, s := range h.servers {
		for _, held := range s.Locks() {
			h.mu.Lock()
			buried := h.buried[grave{i, held.Token}]
			h.mu.Unlock()
			switch {
			case h.plan.calm:
				h.violate("I7 n%d still has %s of %s after all was released", i, held.Key, held.Holder)
			case buried && !h.plan.repeats:
				h.violate("I6 n%d has %s of %s, token %.6s, again after it confirmed its release", i, held.Key,
					held.Holder, held.Token)
			}
		}
		if n := s.QueueLength(); n > 0 && h.plan.calm {
			h.violate("I7 n%d still has %d waiters in its queues", i, n)
		}
	}
	time.Sleep(3 * time.Minute)
	if slices.ContainsFunc(h.servers, storesLocks) {
		time.Sleep(time.Hour) // keys copied from a server whose clock was an hour ahead end after that hour
	}
	for i, s := range h.servers {
		if storesLocks(s) {
			h.violate("I7 n%d still has %v, %d waiters, %d reservations after every TTL", i, s.Locks(), s.QueueLength(),
				s.Reservations())
		}
		if low, high := s.TTLs(); low < 0 || high > simMaxTTL {
			h.violate("I7 n%d was given TTLs from %v to %v", i, low, high)
		}
	}
}

func storesLocks(s *locktest.FakeServer) bool {
	return len(s.Locks()) > 0 || s.QueueLength() > 0 || s.Reservations() > 0
}
