package scanner

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// confirmation is the second look of a sweep, on the masters, at everything in the
// ledger: at what is new when it has been there for the grace, and at what is known,
// which pages need not have shown this time. What is not as it was is resolved.
type confirmation struct {
	cfg     *config
	ledger  *ledger
	orphans *orphans

	mu       sync.Mutex
	appeared []Finding // that were not confirmed before
}

// grace is how long it takes until every pending finding of a node that answers is
// old enough.
func (c *confirmation) grace(nodes []*nodeSweep) time.Duration {
	var wait time.Duration
	now := c.cfg.now()
	for _, n := range nodes {
		if n.report.Err != nil {
			continue
		}
		for _, f := range c.ledger.on(n.node) {
			if !f.Confirmed {
				wait = max(wait, c.cfg.confirmAfter-now.Sub(f.FirstSeen))
			}
		}
	}
	return min(wait, c.cfg.confirmAfter)
}

// look looks again at what is wrong on one node.
func (c *confirmation) look(ctx context.Context, n *nodeSweep) {
	found := c.ledger.on(n.node)
	if n.report.Err != nil || len(found) == 0 {
		return
	}
	keys := make([]string, len(found))
	for i, f := range found {
		keys[i] = f.Key
	}
	values, err := n.reader.Look(ctx, keys)
	if err != nil {
		n.report.fail(ctx, "second look", err)
		return
	}
	now := c.cfg.now()
	for i, f := range found {
		c.settle(ctx, n, f, &values[i], now)
	}
}

// settle decides on one finding. An orphan is compared with the other nodes again.
func (c *confirmation) settle(ctx context.Context, n *nodeSweep, f *Finding, v *keyreader.Value, now time.Time) {
	still := c.cfg.still(f, v)
	seen := *f
	if still && f.Class == Orphan && !c.orphans.possible() {
		return // whether it is one cannot be told any more
	}
	if still && f.Class == Orphan {
		tallies, calls := c.orphans.count(ctx, n.source, []*keyreader.Value{v})
		n.report.Calls += calls
		t := tallies[0]
		if !t.held() && !t.minority() {
			return // who holds it cannot be told
		}
		still, seen.Evidence = t.minority(), t.evidence()
	}
	if still {
		seen.TTL, seen.Hold, seen.LastSeen = v.TTL, holdOf(v), now
		if f.Class != Orphan {
			seen.Evidence = c.cfg.evidence(f.Class, v, f.since, now)
		}
	}
	if c.ledger.settle(f, seen, still) {
		c.confirmed(*f)
	}
}

func (c *confirmation) confirmed(f Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.appeared = append(c.appeared, f)
}
