package sweep

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/report"
)

// confirmation is the second look of a sweep, on the masters, at everything in the registry. It looks at new findings
// after the grace, and at known ones even if no page has shown them this time. Findings that have changed are
// resolved.
type confirmation struct {
	cfg      *Settings
	findings *registry.Findings
	orphans  *orphan.Redlock

	mu       sync.Mutex
	appeared []report.Finding // that were not confirmed before
}

// grace returns the time until every pending finding of an answering node is old enough.
func (c *confirmation) grace(nodes []*nodeSweep) time.Duration {
	var wait time.Duration
	now := c.cfg.Now()
	for _, n := range nodes {
		if n.report.Err != nil {
			continue
		}
		for _, f := range c.findings.On(n.Node) {
			if !f.Confirmed {
				wait = max(wait, c.cfg.ConfirmAfter-now.Sub(f.FirstSeen))
			}
		}
	}
	return min(wait, c.cfg.ConfirmAfter)
}

// closeLooks is how often the grace looks at a holder that its value does not prove.
const closeLooks = 24

// attend waits for the grace. Meanwhile it looks repeatedly at locks reported as held too long, to catch a process
// that acquires its lock again and again. It reports whether ctx lasted.
func (c *confirmation) attend(ctx context.Context, nodes []*nodeSweep, grace time.Duration) bool {
	for end := c.cfg.Now().Add(grace); ; {
		left := end.Sub(c.cfg.Now())
		if left <= 0 {
			return ctx.Err() == nil
		}
		if !c.lookClosely(ctx, nodes) {
			return clock.Pause(ctx, left)
		}
		if !clock.Pause(ctx, min(left, rand.N(2*grace/closeLooks+1))) {
			return false
		}
	}
}

// lookClosely reports whether there was anything to look at. The second look reports errors.
func (c *confirmation) lookClosely(ctx context.Context, nodes []*nodeSweep) bool {
	var looked bool
	for _, n := range nodes {
		var keys []string
		for _, f := range c.findings.On(n.Node) {
			if f.Class == inspect.HeldTooLong && !f.Confirmed && f.Hold.Since.IsZero() && len(keys) < keyreader.Batch {
				keys = append(keys, f.Key)
			}
		}
		if n.report.Err != nil || len(keys) == 0 {
			continue
		}
		looked = true
		values, err := n.reader.Look(ctx, keys)
		now := c.cfg.Now()
		for i := range values {
			if v := &values[i]; err == nil && v.Gone() {
				n.memory.watch.Forget(v.Key)
			} else if err == nil {
				holder := holders.Holder(v)
				n.lease(v, &holder, now, true)
			}
		}
	}
	return looked
}

// look looks again at what is wrong on one node.
func (c *confirmation) look(ctx context.Context, n *nodeSweep) {
	found := c.findings.On(n.Node)
	if n.report.Err != nil || len(found) == 0 {
		return
	}
	keys := make([]string, len(found))
	for i, f := range found {
		keys[i] = f.Key
	}
	redirected := n.reader.Redirected()
	values, err := n.reader.Look(ctx, keys)
	if err != nil {
		fail(ctx, &n.report, "second look", err)
		return
	}
	moved := n.reader.Redirected() > redirected
	now := c.cfg.Now()
	for i, f := range found {
		if v := &values[i]; !(v.Gone() && (moved || n.moving(v.Key))) { // a key that moves is not gone
			c.settle(ctx, n, f, v, now)
		}
	}
}

// settle decides on one finding. It compares an orphan with the other nodes again.
func (c *confirmation) settle(ctx context.Context, n *nodeSweep, f *registry.Entry, v *keyreader.Value, now time.Time) {
	v = holders.Subject(f.Class, v, f.Same)
	still := c.cfg.Rules.Still(f, v, now)
	seen, lease := *f, lease{since: f.Since}
	if still && f.Class == inspect.Orphan && !c.orphans.Compares(v) {
		return // it can no longer be decided
	}
	if still && f.Class == inspect.HeldTooLong {
		holder := holders.Holder(v)
		lease = n.lease(v, &holder, now, true)
		seen.Since, seen.Inferred = lease.since, lease.looks > 0
		still = slices.Contains(c.cfg.Rules.Classify(v, &holder, lease.since, now), inspect.HeldTooLong)
	}
	if still && f.Class == inspect.Orphan {
		tallies, calls := c.orphans.Count(ctx, n.Source, []*keyreader.Value{v})
		n.report.Calls += calls
		t := tallies[0]
		if !t.HasQuorum() && !t.Minority() {
			return // its holder is unknown
		}
		still, seen.Evidence = t.Minority(), t.Evidence()
	}
	if still {
		seen.TTL, seen.Hold, seen.LastSeen = v.TTL, holders.Holder(v), now
		seen.Identity, seen.Kept, seen.Recalled = v.Identity(), holders.Kept(v), registry.Recalled{}
		if f.Class != inspect.Orphan {
			seen.Evidence = n.evidence(f.Class, v, &lease, now)
		}
		seen.Evidence = judge.About(v.Key, &seen.Hold, c.cfg.Scope.Patterns) + seen.Evidence
	}
	if c.findings.Settle(f, seen, still) {
		c.confirmed(f.Sealed())
	}
}

func (c *confirmation) confirmed(f report.Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.appeared = append(c.appeared, f)
}
