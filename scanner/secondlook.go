package scanner

import (
	"context"
	"time"
)

// secondLook looks at everything in the ledger again, on the masters: at what is
// new when it has been there for the grace, and at what is known, which pages need
// not have shown this time. What is not as it was is resolved.
func (r *run) secondLook(ctx context.Context) {
	if wait := r.grace(); wait > 0 && !pause(ctx, wait) {
		for i := range r.targets {
			r.reports[i].Truncated = true
		}
		return
	}
	if ctx.Err() != nil {
		return
	}
	r.each(ctx, r.lookAgain)
}

// grace is how long it takes until every pending finding of a node that answers is
// old enough.
func (r *run) grace() time.Duration {
	var wait time.Duration
	now := r.cfg.now()
	for i, t := range r.targets {
		if r.reports[i].Err != nil {
			continue
		}
		for _, f := range r.ledger.on(t.name) {
			if !f.Confirmed {
				wait = max(wait, r.cfg.confirmAfter-now.Sub(f.FirstSeen))
			}
		}
	}
	return min(wait, r.cfg.confirmAfter)
}

func (r *run) lookAgain(ctx context.Context, t *target, rep *NodeReport) {
	found := r.ledger.on(t.name)
	if rep.Err != nil || len(found) == 0 {
		return
	}
	keys := make([]string, len(found))
	for i, f := range found {
		keys[i] = f.Key
	}
	values, err := r.look(ctx, t, keys)
	if err != nil {
		r.fail(ctx, rep, "second look", err)
		return
	}
	now := r.cfg.now()
	for i, f := range found {
		r.settle(ctx, t, f, &values[i], now)
	}
}

// settle decides on one finding. An orphan is compared with the other nodes again.
func (r *run) settle(ctx context.Context, t *target, f *Finding, v *value, now time.Time) {
	still := r.cfg.still(f, v)
	seen := *f
	if still && f.Class == Orphan {
		c := r.orphans.count(ctx, t, []*value{v})[0]
		if !c.held() && !c.minority() {
			return // who holds it cannot be told
		}
		still, seen.Evidence = c.minority(), c.evidence()
	}
	if still {
		seen.TTL, seen.Holder, seen.LastSeen = v.ttl, v.holder(), now
		if f.Class != Orphan {
			seen.Evidence = r.cfg.evidence(f.Class, v, f.since, now)
		}
	}
	if r.ledger.settle(f, seen, still) {
		r.confirmed(*f)
	}
}
