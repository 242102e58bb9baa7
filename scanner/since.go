package scanner

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/value"
)

// clockSlack is how far a holder's clock may be off before its word counts for nothing.
const clockSlack = 30 * time.Second

// tenure is since when a lock is proved to have the holder it has, by what its value says
// or by what was seen of it.
type tenure struct {
	since      time.Time // zero: unknown
	doubt      string    // why its value was not believed
	unwatched  bool      // there was no room to remember this one, or another one for it
	indistinct bool      // its value does not tell one holder from the next
}

func (n *nodeSweep) tenure(v *keyreader.Value, h *Hold, now time.Time) (t tenure) {
	p := n.cfg.rules.PolicyOf(v.Key)
	if !n.cfg.rules.Checks[HeldTooLong] || value.Foreign(v) || !judge.LimitsHold(&p, v) {
		return tenure{}
	}
	distinct := value.DistinctionOf(v, h)
	var seen observed
	if n.cfg.maxWatched > 0 {
		seen = n.memory.watch.note(look{
			node: n.Node, key: v.Key, identity: v.Identity(), distinct: distinct,
			at: now, ttl: v.TTL, count: h.Count, worth: p.MaxHold,
		})
	}
	t.unwatched, t.indistinct, t.since = seen.full, distinct == value.Indistinct, seen.first
	if !h.Since.IsZero() {
		t.since, t.doubt = believe(h.Since, &seen, now)
	}
	return t
}

// believe compares what a holder's clock says with what was seen. If they contradict each
// other, what was seen counts.
func believe(said time.Time, seen *observed, now time.Time) (since time.Time, doubt string) {
	const text = "; its holder's clock is %v or more %s, so this is since it was first seen"
	switch {
	case said.After(now.Add(clockSlack)):
		return seen.first, fmt.Sprintf(text, clock.Round(said.Sub(now)), "ahead")
	case !seen.first.IsZero() && said.After(seen.first.Add(clockSlack)):
		return seen.first, fmt.Sprintf(text, clock.Round(said.Sub(seen.first)), "ahead")
	case !seen.whole.IsZero() && said.Before(seen.whole.Add(-clockSlack)):
		return seen.first, fmt.Sprintf(text, clock.Round(seen.whole.Sub(said)), "behind")
	}
	return said, ""
}
