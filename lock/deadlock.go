package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrDeadlock says that a call waits for what, in the end, only its own caller can
// release; see [DeadlockError].
var ErrDeadlock = errors.New("lock: deadlock")

// Deadlock is a cycle of leases of this process: calls whose contexts descend from each
// of them wait for the resource of the next, and those of the last for that of the first.
// Unless one of these calls gives up, or a lease has other work under way that ends it,
// none gets any further.
type Deadlock struct {
	Cycle []Held
}

// String names the cycle: "a" (fence 1) waits for "b" (fence 2) waits for "a".
func (d Deadlock) String() string {
	var b strings.Builder
	for _, h := range d.Cycle {
		fmt.Fprintf(&b, "%v%s waits for ", h, d.on(h))
	}
	if len(d.Cycle) > 0 {
		fmt.Fprintf(&b, "%q%s", d.Cycle[0].Resource, d.on(d.Cycle[0]))
	}
	return b.String()
}

// on says on which nodes a lease is, where the cycle is on several sets of them.
func (d Deadlock) on(h Held) string {
	if !slices.ContainsFunc(d.Cycle, func(other Held) bool { return other.Backend != h.Backend }) {
		return ""
	}
	return " on " + h.Backend
}

// DeadlockError is what ended the wait of a call with [FailOnDeadlock]. It matches
// [ErrDeadlock]. The leases that the call holds are left as they are: release them.
type DeadlockError struct {
	Deadlock
}

func (e *DeadlockError) Error() string {
	return ErrDeadlock.Error() + ": " + e.String() +
		": release what is held before waiting, or acquire in the same order everywhere"
}

// Is makes errors.Is(err, ErrDeadlock) true.
func (e *DeadlockError) Is(target error) bool { return target == ErrDeadlock }

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
	leases  []*lease      // that its caller holds: it adds an edge from each while it waits
	told    chan Deadlock // with FailOnDeadlock: of a cycle that this call is to break
	waits   bool
	cycle   []blocked   // that was there when the wait began; nil if none was
	confirm *time.Timer // goes off when the cycle is to be looked at again
}

func newWaitGraph(ctx context.Context, o *AcquireOptions) (g waitGraph) {
	if g.leases = holdersOf(ctx); len(g.leases) > 0 && o.FailOnDeadlock {
		g.told = make(chan Deadlock, 1)
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
	var d Deadlock
	victim := a
	for _, b := range cycle {
		d.Cycle = append(d.Cycle, b.lease.held())
		if victim.graph.told == nil {
			victim = b.call
		}
	}
	a.ts.deadlock(a.traced, d)
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
