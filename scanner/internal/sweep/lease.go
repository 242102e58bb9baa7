package sweep

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/value"
	"github.com/lockscope/lockscope/scanner/report"
)

// lease is since when a lock is proved to have the holder it has, by what its value says
// or by what was seen of it.
type lease struct {
	since      time.Time // zero: unknown
	doubt      string    // why its value was not believed
	unwatched  bool      // there was no room to remember this one, or another one for it
	indistinct bool      // its value does not tell one holder from the next
}

func (n *nodeSweep) leaseOf(v *keyreader.Value, h *report.Hold, now time.Time) (t lease) {
	p := n.cfg.Rules.PolicyOf(v.Key)
	if !n.cfg.Rules.Checks[report.HeldTooLong] || value.Foreign(v) || !judge.LimitsHold(&p, v) {
		return lease{}
	}
	distinct := value.DistinctionOf(v, h)
	var seen holders.Observed
	if n.cfg.MaxWatched > 0 {
		seen = n.memory.watch.Note(holders.Look{
			Node: n.Node, Key: v.Key, Identity: v.Identity(), Distinct: distinct,
			At: now, TTL: v.TTL, Count: h.Count, Worth: p.MaxHold,
		})
	}
	t.unwatched, t.indistinct, t.since = seen.Full, distinct == value.Indistinct, seen.First
	if !h.Since.IsZero() {
		t.since, t.doubt = holders.Believe(h.Since, &seen, now)
	}
	return t
}
