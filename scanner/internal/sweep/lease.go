package sweep

import (
	"time"

	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/value"
	"github.com/lockscope/lockscope/scanner/report"
)

// lease is since when a lock is proved to have its holder, by its value or by what was seen of it.
type lease struct {
	since      time.Time // zero: unknown
	doubt      string    // why its value was not believed
	unwatched  bool      // there was no room to remember this one, or another one for it
	indistinct bool      // its value does not tell one holder from the next
	undated    bool      // it may have been held for longer than the limit, and nothing shows it
	looks      int       // that saw the holder, if it may have released the lock in between; else zero
}

// leaseOf judges a look at a lock on a node, and has the watch remember it.
func leaseOf(
	cfg *Settings, watch *holders.Watch, node string, v *keyreader.Value, h *report.Hold, now time.Time, again bool,
) (l lease) {
	p := cfg.Rules.PolicyOf(v.Key)
	limit := judge.HoldLimit(&p, v, h)
	if !cfg.Rules.Checks[report.HeldTooLong] || value.Foreign(v) || limit == 0 {
		return lease{}
	}
	distinct := value.DistinctionOf(v, h)
	var seen holders.Observed
	if cfg.MaxWatched > 0 {
		seen = watch.Note(holders.Look{
			Node: node, Key: v.Key, Identity: v.Identity(), Distinct: distinct,
			At: now, TTL: v.TTL, Count: h.Count, Worth: limit, Says: !h.Since.IsZero(), Again: again,
		})
	}
	l.unwatched, l.indistinct, l.since = seen.Full, distinct == value.Indistinct, seen.First
	if !h.Since.IsZero() {
		l.since, l.doubt = holders.Believe(h.Since, &seen, now)
		return l
	}
	if value.Kept(v) {
		l.looks = seen.Looks
	}
	longer := func(since time.Time) bool { return since.IsZero() || now.Sub(since) > limit }
	l.undated = !l.unwatched && (l.since.IsZero() || !longer(l.since)) && longer(seen.Whole)
	return l
}
