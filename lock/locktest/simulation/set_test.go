package simulation

import (
	"context"
	"slices"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/lockset"
)

// heldSet is a lockset.Set.
type heldSet interface {
	held
	Fences() map[string]uint64
	Lost() (string, error)
	Release(ctx context.Context) error
}

// acquireSet is lockset.Acquire, or a defect of it.
type acquireSet func(ctx context.Context, l lock.Locker, names []string, opts ...lock.AcquireOption) (heldSet, error)

func realSet(ctx context.Context, l lock.Locker, names []string, opts ...lock.AcquireOption) (heldSet, error) {
	set, err := lockset.Acquire(ctx, l, names, opts...)
	if err != nil {
		return nil, err
	}
	return set, nil
}

// holdSet acquires a set, works and releases, as o says.
func (h *history) holdSet(c int, id string, o *op) error {
	p, ctx, cancel := h.begin(c, id, o)
	defer cancel()
	acquire := h.plant.set
	if acquire == nil {
		acquire = realSet
	}
	set, err := acquire(ctx, witness{h, c}, o.names(), o.options...)
	if err != nil {
		p.fail(err)
		p.checkOrder()
		return err
	}
	b := h.holds(p, set, "", set.Fences())
	h.use(b, o)
	if lost, cause := set.Lost(); (cause == nil) != (set.Context().Err() == nil) {
		h.violate("S4 %v: Lost names %q and %v", b, lost, cause)
	}
	h.letGo(b, o, set.Release)
	p.checkOrder()
	return nil
}

// names are those of a set, in the order in which the caller gives them.
func (o *op) names() (names []string) {
	for _, i := range append([]int{o.resource}, o.more...) {
		names = append(names, resourceName(i))
	}
	return names
}

// checkOrder: leases are released in the reverse order of their names (S5).
func (p *call) checkOrder() {
	p.mu.Lock()
	released := slices.Clone(p.released)
	p.mu.Unlock()
	if slices.Reverse(released); !slices.IsSorted(released) {
		p.h.violate("S5 %s: released in the order of %v", p.id, p.released)
	}
}
