//go:build linux

package judge

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// Lease is one that a worker was given, as its events tell it.
type Lease struct {
	Worker     *Worker
	ID         int64
	Resource   string
	Fence      uint64
	Call       int64 // when Acquire was called
	Granted    int64 // when it had returned
	HandedOver bool

	// SeenValid is the last instant at which it was certainly valid; Until is when its
	// validity ends at the earliest, unless it was ended before. Both are 0 if it never was.
	SeenValid, Until int64
	Released         int64          // when Release was called; 0 if it was not
	Ended            *history.Event // its context's end; nil if it was not told
	LostByRound      bool           // a renewal found that the nodes do not have it
	writes           []history.Event
}

func (l *Lease) String() string {
	return fmt.Sprintf("lease %d of %s, fence %d", l.ID, l.Worker.Name, l.Fence)
}

// seen takes note of an instant at which it was valid.
func (l *Lease) seen(at, until int64) {
	if until > at {
		l.SeenValid, l.Until = max(l.SeenValid, at), max(l.Until, until)
	}
}

// End is when the lease was certainly not over yet, at the latest that is known:
// one that ran out was valid until it did; one that was released, until then, if it said
// so; the lease of a process that was killed, until it would run out. Everything else may
// have ended at any time after it was seen last.
func (l *Lease) End() int64 {
	switch {
	case l.Ended != nil && l.Ended.Outcome == "lost" && !l.LostByRound:
		return max(l.SeenValid, l.Ended.Until)
	case l.Ended != nil || l.Released != 0 || l.LostByRound:
		return l.SeenValid
	default:
		return l.Until
	}
}

func (c *court) allLeases() (all []*Lease) {
	for _, w := range c.evidence.Workers {
		all = append(all, leasesOf(w)...)
	}
	return all
}

// leasesOf reads one worker's events.
func leasesOf(w *Worker) (all []*Lease) {
	calls, leases := make(map[int64]int64), make(map[int64]*Lease)
	lostEarly := make(map[int64]bool)
	for i := range w.Events {
		e := &w.Events[i]
		if e.Kind == history.Renewed && e.Outcome == "lost" {
			lostEarly[e.ID] = true
		}
		switch e.Kind {
		case history.Call:
			calls[e.ID] = e.T
			continue
		case history.Return:
			if e.Outcome == "" {
				l := &Lease{
					Worker: w, ID: e.ID, Resource: e.Resource, Fence: e.Fence, Call: calls[e.ID], Granted: e.T,
					HandedOver: e.HandedOver,
				}
				l.seen(e.T, e.Until)
				leases[e.ID], all = l, append(all, l)
			}
			continue
		}
		if l := leases[e.ID]; l != nil {
			l.event(e)
		}
	}
	for _, l := range all {
		l.LostByRound = lostEarly[l.ID]
	}
	return all
}

// event is one after the grant.
func (l *Lease) event(e *history.Event) {
	switch e.Kind {
	case history.Extended:
		l.seen(e.T, e.Until)
	case history.Renewed:
		l.seen(e.Since, e.Until)
	case history.Write:
		l.seen(e.T, e.Until)
		l.writes = append(l.writes, *e)
	case history.Release:
		l.seen(e.T, e.Until)
		l.Released = e.T
	case history.Ended:
		l.Ended = e
	}
}
