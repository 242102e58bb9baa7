package live

import (
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/graph"
	"github.com/lockscope/lockscope/exporter/live/internal/sessions"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// WaitHistory returns who waited for whom from one time to another. Samples are kept for an hour, and in a
// process with very many different waits for less: see the result's CompleteFrom. It asks no node and waits for
// nothing. The caller may change the result. Concurrent calls are safe.
//
// If to is not after from, the result is empty. If they are more than 60 hours apart, the result begins 60 hours
// before to.
func (b *Board) WaitHistory(from, to time.Time) state.WaitHistory {
	d := b.past.Between(time.Now(), from, to)
	d.Instance = b.cfg.instance
	return d
}

// WaitChains returns the waiting calls from one time to another, each with its blocker, what that waited for, and so
// on. Calls in the same state are counted together. The order is arbitrary.
func (b *Board) WaitChains(from, to time.Time) []state.WaitChain {
	return b.past.Chains(time.Now(), from, to)
}

// sample records who waits now. A Locker that panics when it is asked costs one sample.
func (b *Board) sample(now time.Time) {
	defer text.Contain()
	b.past.Sample(now, waitsOf(graph.New(b.calls.Look(now, 0))))
}

// waitsOf describes all calls that wait.
func waitsOf(g *graph.Graph) (all []*sessions.Wait) {
	chains := make(map[text.ID]*sessions.Wait)
	for w, blocker := range g.Waits() {
		of := w.ID()
		wait := &sessions.Wait{
			Backend: text.Name(of.Backend), Resource: text.Resource(of.Resource),
			Instance: w.Owner.Instance, CallSite: text.Name(w.CallSite), Class: w.Class,
			Kind: w.Record().Kind, Slots: w.Record().Slots,
		}
		if all = append(all, wait); blocker == nil {
			continue
		}
		wait.Holder, wait.HolderSite = holderName(blocker), blocker.CallSite
		next, known := chains[of]
		if !known {
			next = chainOf(g, of)
			chains[of] = next
		}
		if next != nil && next.Instance == blocker.Holder {
			wait.Next = next
		}
	}
	return all
}

func holderName(b *state.Blocker) string {
	if b.HandedOver {
		return state.HandedOver
	}
	return state.HolderName(b.Holder, b.NeverExpires)
}

// chainOf is what the holder of a resource waits for.
func chainOf(g *graph.Graph, of text.ID) *sessions.Wait {
	links := g.Links(of)
	holder := g.HolderOf(of)
	if len(links) == 0 || holder == nil {
		return nil
	}
	first := &sessions.Wait{}
	at := &first
	for _, l := range links {
		*at = chained(l, holder)
		at = &(*at).Next
		if holder = l.Holder; holder == nil {
			break
		}
	}
	return first
}

// chained is the wait of a holder for the resource of a link.
func chained(l state.Link, holder *state.Blocker) *sessions.Wait {
	w := &sessions.Wait{
		Backend: l.Backend, Resource: l.Resource, Instance: holder.Holder, CallSite: l.CallSite,
	}
	if l.Holder != nil {
		w.Holder, w.HolderSite = holderName(l.Holder), l.Holder.CallSite
	}
	return w
}
