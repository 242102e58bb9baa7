package calls

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

// Bounds of the histories.
const (
	historiesKept  = 8   // of a shard, the latest that somebody waited for
	tenuresKept    = 50  // of one resource, the latest
	tenuresShown   = 500 // of all resources in a State
	historiesShown = 100
)

// histories say who held contended resources. They are nil until somebody waits. The mutex of the shard guards them.
type histories map[text.ID]*history

// history is who held a contended resource.
type history struct {
	waited  time.Time // when a call last began to wait
	tenures []tenure  // a ring
	next    int
}

// tenure is a lease that has ended, or a holder that refusals named.
type tenure struct {
	instance, callSite string
	trace              string
	since, until       time.Time // of a lease of the Board: from the grant to its end here
	elsewhere          bool
	kept               bool // it ended without a release: the nodes have it until its TTL has run out
	// named is since when it is held, as nodes said, and told when they last said so; zero: they did not.
	named, told time.Time
}

// of returns the history of a resource that a call waits for. It makes room by forgetting the resource that nobody has
// waited for the longest.
func (all *histories) of(id text.ID) *history {
	if h := (*all)[id]; h != nil {
		return h
	}
	if *all == nil {
		*all = make(histories)
	}
	if len(*all) >= historiesKept {
		var oldest text.ID
		for known, h := range *all {
			if first := (*all)[oldest]; first == nil || h.waited.Before(first.waited) {
				oldest = known
			}
		}
		delete(*all, oldest)
	}
	h := new(history)
	(*all)[id] = h
	return h
}

func (h *history) add(t tenure) {
	if len(h.tenures) < tenuresKept {
		h.tenures = append(h.tenures, t)
		return
	}
	h.tenures[h.next] = t
	h.next = (h.next + 1) % len(h.tenures)
}

// release ends the tenure of a lost lease. There is none if nobody waited for the lease before it was lost.
func (h *history) release(ended tenure) {
	for i := range h.tenures {
		if t := &h.tenures[i]; t.kept && t.instance == ended.instance && t.since.Equal(ended.since) {
			t.kept, t.until = false, ended.until
			return
		}
	}
	h.add(ended)
}

// addTold records a holder that a refusal named: one in another process, or a lease of the Board that ended without a
// release.
func (h *history) addTold(held *lock.HeldError, elsewhere bool, now time.Time) {
	t := h.toldOf(held, elsewhere)
	switch {
	case t != nil:
		t.named, t.told = held.Holder.Since, now
	case elsewhere:
		h.add(tenure{
			instance: held.Holder.Instance, callSite: held.Holder.CallSite,
			trace: text.TraceOf(held.Holder.Traceparent),
			since: held.Holder.Since, until: now, elsewhere: true, named: held.Holder.Since, told: now,
		})
	}
}

// toldOf returns the lease that a refusal names. A lease of the Board was granted after its attempt had begun, which
// is the time in its holder's record: of several, the first to be granted.
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

// endedSince reports whether a lease of that name has ended since. A lost one goes on for those who wait.
func (h *history) endedSince(instance string, since time.Time) bool {
	return slices.ContainsFunc(h.tenures, func(t tenure) bool {
		return !t.elsewhere && !t.kept && t.instance == instance && !t.until.Before(since)
	})
}

// current returns the tenure that goes on, of several the first; nil if none does.
func (h *history) current(holder *state.Blocker, now time.Time) (current *tenure) {
	for i := range h.tenures {
		t := &h.tenures[i]
		if t.goesOn(holder, now) && (current == nil || t.since.Before(current.since)) {
			current = t
		}
	}
	return current
}

// rounded is how much an age is off that went through a number of seconds with a fraction.
const rounded = time.Millisecond

// goesOn reports whether a tenure is that of the current holder, as refusals name it. A lease of the Board that was
// lost may not have been named since: it was granted after its attempt began, and the nodes have the time of that.
func (t *tenure) goesOn(holder *state.Blocker, now time.Time) bool {
	if holder == nil || holder.Age == nil || holder.Holder != text.Name(t.instance) {
		return false
	}
	since := now.Add(-time.Duration(*holder.Age * float64(time.Second)))
	if t.named.IsZero() {
		return t.kept && since.Sub(t.since) < rounded
	}
	return t.named.Sub(since).Abs() < rounded
}

// ended is when the nodes were last known to have the lease.
func (t *tenure) ended() time.Time {
	if t.told.After(t.until) {
		return t.told
	}
	return t.until
}

// tell returns the history, latest first, without the current holder.
func (h *history) tell(of text.ID, holder *state.Blocker, now time.Time) state.History {
	told := state.History{Resource: text.Resource(of.Resource), Backend: text.Name(of.Backend)}
	current := h.current(holder, now)
	for i := range h.tenures {
		t := &h.tenures[i]
		if ended := t.ended(); now.Sub(ended) < state.HistoryFor && t != current {
			told.Holds = append(told.Holds, state.Tenure{
				Holder: text.Name(t.instance),
				Ended:  max(now.Sub(ended), 0).Seconds(), Took: max(ended.Sub(t.since), 0).Seconds(),
				Elsewhere: t.elsewhere, Unreleased: t.kept, CallSite: text.Name(t.callSite), TraceID: t.trace,
			})
		}
	}
	slices.SortStableFunc(told.Holds, func(x, y state.Tenure) int {
		// Of two that ended at once, the later began later.
		return cmp.Or(cmp.Compare(x.Ended, y.Ended), cmp.Compare(x.Took, y.Took))
	})
	return told
}

// Histories returns who held contended resources, and forgets what is too old: first those of the rows, which have
// these holders, then the resources waited for last.
func (r *Register) Histories(now time.Time, rows []text.ID, holder func(text.ID) *state.Blocker) []state.History {
	type ranked struct {
		rank   int
		waited time.Time
		state.History
	}
	ranks, holders := make(map[text.ID]int, len(rows)), make(map[text.ID]*state.Blocker, len(rows))
	for i, of := range rows {
		ranks[of], holders[of] = i+1, holder(of)
	}
	var all []ranked
	r.each(func(s *shard) {
		for of, h := range s.histories {
			if now.Sub(h.waited) >= state.HistoryFor && ranks[of] == 0 {
				delete(s.histories, of)
			} else if told := h.tell(of, holders[of], now); len(told.Holds) > 0 {
				all = append(all, ranked{cmp.Or(ranks[of], len(ranks)+1), h.waited, told})
			}
		}
	})
	slices.SortFunc(all, func(x, y ranked) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), y.waited.Compare(x.waited),
			cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Backend, y.Backend))
	})
	told, room := make([]state.History, 0, min(len(all), historiesShown)), tenuresShown
	for _, h := range all[:min(len(all), historiesShown)] {
		if n := min(len(h.Holds), room); n < len(h.Holds) {
			h.Holds, h.Omitted = h.Holds[:n], len(h.Holds)-n
		}
		room -= len(h.Holds)
		told = append(told, h.History)
	}
	return told
}
