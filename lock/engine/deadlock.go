package engine

import (
	"context"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// confirmDeadlock is after which time a cycle must still be there to count: calls that
// are about to give up, or to release, are no deadlock.
const confirmDeadlock = 50 * time.Millisecond

// blocked is an edge of the graph: a call that holds the lease waits for a resource.
type blocked struct {
	lease *lease
	call  *acquisition
	on    *resourceQueue
}

// waitGraph is what an acquisition has to do with the graph.
type waitGraph struct {
	leases  []*lease           // that its caller holds: it adds an edge from each while it waits
	told    chan lock.Deadlock // with FailOnDeadlock: of a cycle that this call is to break
	waits   bool
	cycle   []blocked   // that was there when the wait began; nil if none was
	confirm *time.Timer // goes off when the cycle is to be looked at again
}

func newWaitGraph(ctx context.Context, o *lock.AcquireOptions) (g waitGraph) {
	if g.leases = leasesOf(ctx); len(g.leases) > 0 && o.FailOnDeadlock {
		g.told = make(chan lock.Deadlock, 1)
	}
	return g
}

// enterGraph adds the edges of an acquisition that begins to wait, and looks for a cycle.
// Whatever came first, the last edge of a cycle is one of these: a lease that has just
// been granted has nobody waiting in its context.
func (a *acquisition) enterGraph() {
	g := &a.graph
	if g.waits || len(g.leases) == 0 {
		return
	}
	g.waits = true
	for _, l := range g.leases {
		l.addBlocked(blocked{l, a, a.queue})
	}
	if g.cycle = a.findCycle(); g.cycle != nil {
		g.confirm = time.NewTimer(confirmDeadlock)
	}
}

func (a *acquisition) leaveGraph() {
	g := &a.graph
	if !g.waits {
		return
	}
	for _, l := range g.leases {
		l.removeBlocked(a)
	}
	if g.confirm != nil {
		g.confirm.Stop()
	}
	g.waits, g.cycle, g.confirm = false, nil, nil
}

// suspects is when to look at a cycle again.
func (g *waitGraph) suspects() <-chan time.Time {
	if g.confirm == nil {
		return nil
	}
	return g.confirm.C
}

// lookAgain tells of the cycle if it is still there: the traces, and one of its calls
// that asked to fail, this one if it did.
func (a *acquisition) lookAgain() {
	cycle := a.findCycle()
	if cycle == nil || !slices.Equal(cycle, a.graph.cycle) {
		return
	}
	var d lock.Deadlock
	victim := a
	for _, b := range cycle {
		d.Cycle = append(d.Cycle, b.lease.info())
		if victim.graph.told == nil {
			victim = b.call
		}
	}
	a.ts.Deadlock(a.traced, d)
	select {
	case victim.graph.told <- d: // nil if nobody asked
	default:
	}
}

// findCycle follows the edges from what the acquisition waits for until it comes to a
// lease that the acquisition's caller holds.
func (a *acquisition) findCycle() []blocked {
	seen := make(map[*lease]bool)
	var follow func(on *resourceQueue) []blocked
	follow = func(on *resourceQueue) []blocked {
		holder := on.holder.Load()
		switch {
		case holder == nil || seen[holder] || holder.cause() != nil:
			return nil
		case slices.Contains(a.graph.leases, holder):
			return []blocked{{holder, a, a.queue}}
		}
		seen[holder] = true
		for _, next := range holder.allBlocked() {
			if rest := follow(next.on); rest != nil {
				return append(rest, next)
			}
		}
		return nil
	}
	cycle := follow(a.queue)
	slices.Reverse(cycle[min(1, len(cycle)):])
	return cycle
}

// addBlocked notes a call that waits in the context of the lease.
func (l *lease) addBlocked(b blocked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocked = append(l.blocked, b)
}

func (l *lease) removeBlocked(a *acquisition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocked = slices.DeleteFunc(l.blocked, func(b blocked) bool { return b.call == a })
}

func (l *lease) allBlocked() []blocked {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.blocked)
}
