package profile

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// holderKey is what the time behind a holder is charged to.
type holderKey struct {
	of     text.ID
	holder Holder
	other  bool // rows that did not fit
}

func (k holderKey) own() holderKey {
	k.of = cloned(k.of)
	k.holder.Instance, k.holder.CallSite = strings.Clone(k.holder.Instance), strings.Clone(k.holder.CallSite)
	return k
}

// Inflicted is time that calls waited behind a holder.
type Inflicted struct {
	Of     text.ID
	Holder Holder
	Waits  int           // how many calls began to wait behind it
	Took   time.Duration // of all its waiters together
	Span   time.Duration // how long before now that time began
}

// Inflict charges a holder.
func (r *Recorder) Inflict(now time.Time, i Inflicted) {
	if i.Waits == 0 && i.Took <= 0 {
		return
	}
	minute := r.minute(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.holders.row(holderKey{of: short(i.Of), holder: i.Holder}, minute)
	added := sample{float64(i.Waits), max(i.Took, 0)}
	to.add(added)
	to.at(minute).count += added.count
	into := now.Sub(r.began) - time.Duration(minute)*time.Minute // of the present minute
	if i.Span <= into {
		to.at(minute).took += added.took
		return
	}
	// A wait of an hour that nobody has looked at adds ten minutes to the last ten.
	for m, left := minute, i.Span; m >= 0 && m > minute-minutes && left > 0; m-- {
		part := min(into, left)
		to.at(m).took += time.Duration(float64(added.took) * float64(part) / float64(i.Span))
		left, into = left-part, time.Minute
	}
}

// MostInflicted returns the holders that made others wait longest in the last ten minutes, with hand-overs, in which
// nobody holds the lock. It leaves out time for which no holder was known.
func (r *Recorder) MostInflicted(now time.Time) []state.Inflicted {
	minute := r.minute(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]state.Inflicted, 0)
	for k, row := range r.holders.rows {
		s := row.lately(minute)
		if k.other || k.holder.kind == notKnown || s.took <= 0 {
			continue
		}
		all = append(all, state.Inflicted{
			Resource: k.of.Resource, Backend: k.of.Backend, Holder: k.holder.Name(), CallSite: k.holder.CallSite,
			Seconds: s.took.Seconds(), Waits: int(s.count),
		})
	}
	slices.SortFunc(all, func(x, y state.Inflicted) int {
		return cmp.Or(cmp.Compare(y.Seconds, x.Seconds), strings.Compare(x.Resource, y.Resource),
			strings.Compare(x.Backend, y.Backend), strings.Compare(x.Holder, y.Holder),
			strings.Compare(x.CallSite, y.CallSite))
	})
	return all[:min(len(all), state.MaxInflicted)]
}
