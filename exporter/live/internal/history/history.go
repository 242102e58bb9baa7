package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

const tenuresKept = 50 // of one resource, the latest

// history is who held a contended resource. The book guards it.
type history struct {
	waited  time.Time // when a call last began to wait
	tenures []tenure  // a ring
	next    int
}

func (h *history) add(t tenure) {
	if len(h.tenures) < tenuresKept {
		h.tenures = append(h.tenures, t)
		return
	}
	h.tenures[h.next] = t
	h.next = (h.next + 1) % len(h.tenures)
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

// tell returns the history, latest first, without the current holder.
func (h *history) tell(of names.ID, holder *state.Blocker, now time.Time) state.History {
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
