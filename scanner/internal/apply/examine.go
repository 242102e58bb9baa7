package apply

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
)

// examine looks at the key before the action. A plan has only the digest of a value, and only the value itself shows
// whether it identifies an owner. The outcome is [inspect.Done] if the action may be done.
func (r *Repairer) examine(
	ctx context.Context, at node.Connection, f *registry.Entry, patterns []string,
) (inspect.Outcome, time.Duration, error) {
	reader := keyreader.New(at.Master, at.Pages, keyreader.Query{}, keyreader.Capability{})
	found, err := reader.Look(ctx, []string{f.Key})
	if err != nil {
		return "", keyreader.Never, err
	}
	v := holders.Subject(f.Class, &found[0], func(identity string) bool { return identity == f.Identity })
	switch {
	case reader.Redirected() > 0:
		return "", keyreader.Never, fmt.Errorf("%w: the key's slot has moved or is moving: make a new plan",
			repair.ErrIncomplete)
	case v.Gone():
		return inspect.Gone, keyreader.Never, nil
	case v.Type == f.Type && v.Size == keyreader.Unmeasured:
		return "", v.TTL, fmt.Errorf("%w: the server does not report how large the hash is: grant +memory|usage",
			repair.ErrNotRepairable)
	case f.Class != inspect.NoTTL && v.Type == f.Type && v.Identity() != f.Identity && holders.Readers(v):
		return inspect.Gone, v.TTL, nil // other readers have the key
	case v.Type != f.Type || v.Identity() != f.Identity:
		return inspect.Changed, v.TTL, nil
	case f.Class == inspect.LongTTL && holders.Token(v) != "" && v.TTL > mostTTL(f, r.Now()):
		return "", v.TTL, fmt.Errorf("%w: its holder is alive, it has renewed the lock since: use \"lockscope revoke\"",
			repair.ErrNotRepairable)
	case holders.Kept(v) && !f.Kept:
		return "", v.TTL, fmt.Errorf("%w: the plan does not say that a process may reuse this value: make a new plan",
			repair.ErrInvalidPlan)
	}
	f.Doubt, f.Hold = holders.Doubt(v), holders.Holder(v)
	f.Distinct = f.Doubt == ""
	if err := Lockable(f, patterns); err != nil {
		return "", v.TTL, err
	}
	if f.Class == inspect.Orphan {
		if still, err := r.orphaned(ctx, at.Source, v); err != nil || !still {
			return inspect.Changed, v.TTL, err
		}
	}
	return inspect.Done, v.TTL, nil
}

// orphaned reports whether the lock has no quorum now.
func (r *Repairer) orphaned(ctx context.Context, src *node.Source, v *keyreader.Value) (bool, error) {
	o := orphan.New(r.Sources)
	o.Prove(ctx, r.OneRedlock)
	switch {
	case !o.Possible():
		return false, fmt.Errorf("%w: %s", repair.ErrIncomplete, o.Doubt())
	case !o.Compares(v):
		return false, fmt.Errorf("%w: locks of other libraries are not compared: %s", repair.ErrIncomplete, o.Uncompared())
	}
	tallies, _ := o.Count(ctx, src, []*keyreader.Value{v})
	if t := tallies[0]; !t.HasQuorum() && !t.Minority() {
		return false, fmt.Errorf("%w: nodes that may also have the lock do not answer, or may have lost it: try again later",
			repair.ErrIncomplete)
	}
	return tallies[0].Minority(), nil
}
