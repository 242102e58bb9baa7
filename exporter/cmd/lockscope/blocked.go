package main

import (
	"time"

	"github.com/lockscope/lockscope/exporter/internal/fleet"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner"
)

// graph makes of a reading of queues what the page says of who blocks whom.
type graph struct {
	*scanner.Waits
	now time.Time
}

// blocked counts every call, also those that have no row of their own.
func (g graph) blocked(rows []live.Waiter) (all []live.Blocked) {
	listed := make(map[string]int)
	for _, w := range rows {
		listed[w.Resource]++
	}
	for i := range g.Locks {
		f := &g.Locks[i]
		b := live.Blocked{
			Resource: scanner.KeyText(f.Resource), Waiting: calls(f), Listed: listed[scanner.KeyText(f.Resource)],
			Longest: waits{g.Waits}.longest(f, g.now).Seconds(), Holder: blocker(f.Lock, g.now),
		}
		at := f.Resource
		for _, next := range g.Graph.Chain(f.Resource) {
			b.Chain = append(b.Chain, g.link(at, next))
			at = next
		}
		for _, d := range g.Deadlocks {
			for _, held := range d.Cycle {
				b.Deadlock = b.Deadlock || held.Resource == f.Resource
			}
		}
		all = append(all, b)
	}
	return all
}

// link leads from the holder of one resource to another, which it waits for.
func (g graph) link(from, to string) live.Link {
	l := live.Link{Resource: scanner.KeyText(to), Holder: g.holder(to)}
	holder := g.Graph.Resource(from)
	if holder == nil || holder.Lease == nil {
		return l
	}
	for _, w := range g.Graph.Resource(to).Waiters {
		if holds(w, holder, from) {
			l.For, l.CallSite, l.TraceID = max(0, g.now.Sub(w.Since)).Seconds(), w.CallSite, fleet.TraceID(w.Traceparent)
			return l
		}
	}
	return l
}

func holds(w lock.Waiting, of *waitgraph.Resource, resource string) bool {
	for _, h := range w.Holds {
		if h.Resource == resource && w.Instance == of.Lease.Holder.Instance {
			return true
		}
	}
	return false
}

func (g graph) holder(resource string) *live.Blocker {
	for i := range g.Locks {
		if g.Locks[i].Resource == resource {
			return blocker(g.Locks[i].Lock, g.now)
		}
	}
	return nil
}

func (g graph) deadlocks() (all []live.Deadlock) {
	for _, d := range g.Waits.Deadlocks {
		cycle := live.Deadlock{}
		for i, held := range d.Cycle {
			before := d.Cycle[(i+len(d.Cycle)-1)%len(d.Cycle)]
			cycle.Cycle = append(cycle.Cycle, g.link(before.Resource, held.Resource))
		}
		all = append(all, cycle)
	}
	return all
}

// totals count what the state lists and leaves out.
func totals(s live.State) (t live.Totals) {
	t.Held, t.Contended = len(s.Held)+s.Omitted.Held, len(s.Blocked)
	for _, h := range s.Held {
		t.OldestHold = max(t.OldestHold, h.Age)
	}
	for _, b := range s.Blocked {
		t.Waiting, t.Longest = t.Waiting+b.Waiting, max(t.Longest, b.Longest)
	}
	return t
}
