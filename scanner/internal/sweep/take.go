package sweep

import (
	"context"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/report"
)

// take examines and counts the locks of a page. If ctx ends meanwhile, the page does not count.
func (n *nodeSweep) take(ctx context.Context, page *keyreader.Page) (locks int64, err error) {
	locks = page.Keys
	now := n.cfg.Now()
	var voting []*keyreader.Value
	for i := range page.Values {
		v := &page.Values[i]
		if keyreader.IsHelper(v.Key) || n.seenBefore(v.Key) {
			locks-- // a name that a pattern without helper prefixes can match, or that an earlier one has
			continue
		}
		if v.Gone() {
			continue
		}
		n.values.Note(v)
		if n.cfg.Rules.Excludes(v.Key, now) < 0 {
			n.cfg.Silence.Saw(v.Key, now)
		}
		holder := holders.Holder(v)
		lease := n.lease(v, &holder, now, false)
		n.count(&lease)
		for _, class := range n.cfg.Rules.Classify(v, &holder, lease.since, now) {
			of := holders.Subject(class, v, nil)
			f := n.finding(class, of, n.evidence(class, of, &lease, now), lease.since, now)
			f.Inferred = class == inspect.HeldTooLong && lease.looks > 0
			n.note(f)
		}
		if n.cfg.Rules.Checks[inspect.Orphan] && n.orphans.Possible() && !holders.Foreign(v) {
			voting = append(voting, n.compared(v, now)...)
		}
	}
	return locks, n.takeOrphans(ctx, voting, now)
}

// lease returns since when the lock is proved to have its holder. again: the page of the lock was read before.
func (n *nodeSweep) lease(v *keyreader.Value, h *inspect.Hold, now time.Time, again bool) lease {
	return leaseOf(n.cfg, n.memory.watch, n.Node, v, h, now, again)
}

// moving reports whether the key may already be on another node of the cluster.
func (n *nodeSweep) moving(key string) bool {
	slots := n.view.Moving()
	return slots.Has(hashslot.Of(key))
}

// seenBefore reports whether an earlier pattern of this pass matches the key.
func (n *nodeSweep) seenBefore(key string) bool {
	earlier := n.cfg.Scope.Patterns[:n.memory.pass.pattern]
	return slices.ContainsFunc(earlier, func(p string) bool { return keyreader.Matches(p, key) })
}

// compared returns the attempts of a lock that can be compared with the other nodes, and counts the lock if there are
// none.
func (n *nodeSweep) compared(v *keyreader.Value, now time.Time) []*keyreader.Value {
	if holders.Readers(v) || n.orphans.Compares(v) {
		return holders.Votes(v, now)
	}
	n.report.Uncompared++
	return nil
}

// takeOrphans compares the locks of a page with the other nodes. Of several readers of a lock that are orphans, it
// notes the one that began first.
func (n *nodeSweep) takeOrphans(ctx context.Context, voting []*keyreader.Value, now time.Time) error {
	if len(voting) == 0 {
		return nil
	}
	tallies, calls := n.orphans.Count(ctx, n.Source, voting)
	n.report.Calls += calls
	oldest := make(map[string]*orphan.Tally)
	for _, c := range tallies {
		if first := oldest[c.Value.Key]; c.Minority() && (first == nil || beganBefore(c.Value, first.Value)) {
			oldest[c.Value.Key] = c
		}
	}
	for _, c := range oldest {
		n.note(n.finding(inspect.Orphan, c.Value, c.Evidence(), time.Time{}, now))
	}
	return ctx.Err()
}

// beganBefore compares two readers of a lock.
func beganBefore(a, b *keyreader.Value) bool {
	return keyreader.Oldest(a.ReadLeases()).Began < keyreader.Oldest(b.ReadLeases()).Began
}

// evidence explains a finding. The duration of a hold comes with the reason why the holder's own time was ignored.
func (n *nodeSweep) evidence(class inspect.Class, v *keyreader.Value, lease *lease, now time.Time) string {
	text := n.cfg.Rules.Evidence(class, v, lease.since, lease.looks, now)
	if class == inspect.HeldTooLong {
		text += lease.doubt
	}
	return text
}

// count counts the locks whose holding time is unknown.
func (n *nodeSweep) count(lease *lease) {
	if lease.unwatched {
		n.report.Unwatched++
	}
	if lease.indistinct {
		n.report.Indistinct++
	}
	if lease.undated {
		n.report.Undated++
	}
}

// note keeps a finding, or counts it if an exclusion keeps it out.
func (n *nodeSweep) note(f registry.Entry) {
	if i := n.cfg.Rules.Excludes(f.Key, n.cfg.Now()); i >= 0 {
		n.excluded[i]++
		return
	}
	n.findings.Note(f)
}

func (n *nodeSweep) finding(
	class inspect.Class, v *keyreader.Value, evidence string, since, now time.Time,
) registry.Entry {
	doubt, holder := holders.Doubt(v), holders.Holder(v)
	policy := n.cfg.Rules.PolicyOf(v.Key)
	evidence = judge.About(v.Key, &holder, n.cfg.Scope.Patterns) + evidence
	return registry.Entry{
		Finding: report.Finding{
			Class: class, Node: n.Node, Key: v.Key, Type: v.Type, TTL: v.TTL, Hold: holder, Evidence: evidence,
			Policy: policy.Name, Team: policy.Team, FirstSeen: now, LastSeen: now,
		},
		Facts: registry.Facts{
			Source: n.Source.Name, Since: since, Identity: v.Identity(), Distinct: doubt == "", Doubt: doubt,
			Kept: holders.Kept(v),
		},
	}
}

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
	cfg *Settings, watch *holders.Watch, node string, v *keyreader.Value, h *inspect.Hold, now time.Time, again bool,
) (l lease) {
	p := cfg.Rules.PolicyOf(v.Key)
	limit := judge.HoldLimit(&p, v, h)
	if !cfg.Rules.Checks[inspect.HeldTooLong] || holders.Foreign(v) || limit == 0 {
		return lease{}
	}
	distinct := holders.DistinctionOf(v, h)
	var seen holders.Observed
	if cfg.MaxWatched > 0 {
		seen = watch.Note(holders.Look{
			Node: node, Key: v.Key, Identity: v.Identity(), Distinct: distinct,
			At: now, TTL: v.TTL, Count: h.Count, Worth: limit, Says: !h.Since.IsZero(), Again: again,
		})
	}
	l.unwatched, l.indistinct, l.since = seen.Full, distinct == holders.Indistinct, seen.First
	if !h.Since.IsZero() {
		l.since, l.doubt = holders.Believe(h.Since, &seen, now)
		return l
	}
	if holders.Kept(v) {
		l.looks = seen.Looks
	}
	longer := func(since time.Time) bool { return since.IsZero() || now.Sub(since) > limit }
	l.undated = !l.unwatched && (l.since.IsZero() || !longer(l.since)) && longer(seen.Whole)
	return l
}
