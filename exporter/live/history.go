package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// HistoryFor is how long it is remembered who held a resource that somebody waited for.
const HistoryFor = 10 * time.Minute

const (
	historiesPerShard = 8   // the latest that somebody waited for
	tenuresKept       = 50  // of one resource, the latest
	tenuresShown      = 500 // of all resources in a State
	historiesShown    = 100
)

// history is who held a resource that somebody waited for. It is guarded by the mutex of
// its shard.
type history struct {
	waited  time.Time // when a call last began to wait
	tenures []tenure  // a ring
	next    int
}

// tenure is a lease that has ended, or a holder that waiters were told of.
type tenure struct {
	instance, callSite string
	trace              string
	since, until       time.Time // of a lease of the Board: from the grant to its end here
	elsewhere          bool
	kept               bool      // it ended without a release: the nodes have it until its TTL has run out
	named, told        time.Time // what nodes said since when it is held, and when they last said so; zero: they did not
}

func (h *history) add(t tenure) {
	if len(h.tenures) < tenuresKept {
		h.tenures = append(h.tenures, t)
		return
	}
	h.tenures[h.next] = t
	h.next = (h.next + 1) % len(h.tenures)
}

// addTold notes a holder that a waiter was told of: one elsewhere, or a lease of the Board
// that ended without a release.
func (h *history) addTold(held *lock.HeldError, elsewhere bool, now time.Time) {
	t := h.toldOf(held, elsewhere)
	switch {
	case t != nil:
		t.named, t.told = held.Holder.Since, now
	case elsewhere:
		h.add(tenure{
			instance: held.Holder.Instance, callSite: held.Holder.CallSite, trace: traceOf(held.Holder.Traceparent),
			since: held.Holder.Since, until: now, elsewhere: true, named: held.Holder.Since, told: now,
		})
	}
}

// toldOf is the lease that a refusal names. One of the Board was granted after its attempt had
// begun, which is what its holder's record tells: of several the first to be granted.
func (h *history) toldOf(held *lock.HeldError, elsewhere bool) (of *tenure) {
	for i := range h.tenures {
		t := &h.tenures[i]
		switch {
		case t.elsewhere != elsewhere || t.instance != held.Holder.Instance:
		case elsewhere:
			if t.since.Equal(held.Holder.Since) {
				return t
			}
		case t.kept && !t.since.Before(held.Holder.Since) && (of == nil || t.since.Before(of.since)):
			of = t
		}
	}
	return of
}

// endedSince reports that a lease of that name has ended since.
func (h *history) endedSince(instance string, since time.Time) bool {
	return slices.ContainsFunc(h.tenures, func(t tenure) bool {
		return !t.elsewhere && t.instance == instance && !t.until.Before(since)
	})
}

// contend notes that a call begins to wait, or has waited, and behind whom if it was told.
func (s *shard) contend(of id, behind *lock.HeldError, elsewhere bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.contended[of]
	if h == nil {
		h = new(history)
		s.keep(of, h)
	}
	h.waited = now
	if behind != nil {
		h.addTold(behind, elsewhere, now)
	}
}

// keep makes room by forgetting what nobody has waited for the longest. mu must be held.
func (s *shard) keep(of id, h *history) {
	if s.contended == nil {
		s.contended = make(map[id]*history)
	}
	if len(s.contended) >= historiesPerShard {
		var oldest *id
		for known, other := range s.contended {
			if oldest == nil || other.waited.Before(s.contended[*oldest].waited) {
				oldest = &known
			}
		}
		delete(s.contended, *oldest)
	}
	s.contended[of] = h
}

// note remembers a lease that ends now, if somebody waited for its resource. mu must be
// held.
func (s *shard) note(m *lease) {
	if len(s.contended) == 0 {
		return
	}
	if h := s.contended[m.id()]; h != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		h.add(tenure{instance: m.owner.instance, callSite: m.from().callSite, trace: traceText(m.trace), since: m.heldAt, until: time.Now(), kept: m.lost})
	}
}

// histories tells what is remembered: of the given resources first, then of those that
// somebody waited for last.
func (b *Board) histories(g *graph, now time.Time) []History {
	type remembered struct {
		rank   int
		waited time.Time
		History
	}
	ranks, holders := make(map[id]int, len(g.rows)), make(map[id]*Blocker, len(g.rows))
	for i, c := range g.rows {
		ranks[c.id], holders[c.id] = i+1, g.holderOf(c.id)
	}
	var all []remembered
	for i := range b.shards {
		s := &b.shards[i]
		s.mu.Lock()
		for of, h := range s.contended {
			if now.Sub(h.waited) >= HistoryFor && ranks[of] == 0 {
				delete(s.contended, of)
				continue
			}
			if told := h.tell(of, holders[of], now); len(told.Holds) > 0 {
				all = append(all, remembered{cmp.Or(ranks[of], len(g.rows)+1), h.waited, told})
			}
		}
		s.mu.Unlock()
	}
	slices.SortFunc(all, func(x, y remembered) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), y.waited.Compare(x.waited), cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Backend, y.Backend))
	})
	told, room := make([]History, 0, min(len(all), historiesShown)), tenuresShown
	for _, h := range all[:min(len(all), historiesShown)] {
		if n := min(len(h.Holds), room); n < len(h.Holds) {
			h.Holds, h.Omitted = h.Holds[:n], len(h.Holds)-n
		}
		room -= len(h.Holds)
		told = append(told, h.History)
	}
	return told
}

// tell is the latest first, without who holds the resource now.
func (h *history) tell(of id, holder *Blocker, now time.Time) History {
	told := History{Resource: clip(of.resource, maxResource), Backend: clip(of.backend, maxName)}
	for i := range h.tenures {
		t := &h.tenures[i]
		if ended := t.ended(); now.Sub(ended) < HistoryFor && !t.goesOn(holder, now) {
			told.Holds = append(told.Holds, Tenure{
				Holder: clip(t.instance, maxName), Ended: max(now.Sub(ended), 0).Seconds(), Took: max(ended.Sub(t.since), 0).Seconds(),
				Elsewhere: t.elsewhere, CallSite: clip(t.callSite, maxName), TraceID: t.trace,
			})
		}
	}
	slices.SortStableFunc(told.Holds, func(x, y Tenure) int {
		return cmp.Or(cmp.Compare(x.Ended, y.Ended), cmp.Compare(x.Took, y.Took)) // of two that ended at once, the later began later
	})
	return told
}

// ended is when the nodes were last known to have the lease.
func (t *tenure) ended() time.Time {
	if t.told.After(t.until) {
		return t.told
	}
	return t.until
}

// goesOn reports that a tenure is the one of who holds the resource, as waiters were told.
func (t *tenure) goesOn(holder *Blocker, now time.Time) bool {
	if holder == nil || holder.Age == nil || t.named.IsZero() || holder.Holder != clip(t.instance, maxName) {
		return false
	}
	const rounded = time.Millisecond // an age is told in seconds, as a fraction
	return (now.Sub(t.named) - time.Duration(*holder.Age*float64(time.Second))).Abs() < rounded
}
