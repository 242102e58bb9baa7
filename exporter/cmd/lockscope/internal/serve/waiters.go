package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

var errNotYet = errors.New("waiters have not been read yet")

// unread is why some waiters are unknown; nil if all are known.
func unread(w *listing.Waits) error {
	switch {
	case w == nil:
		return errNotYet
	case fleet.QueuesErr(w) != nil:
		return fleet.QueuesErr(w)
	case w.Read < w.Of:
		return fmt.Errorf("read the queues of %d of %d nodes", w.Read, w.Of)
	}
	return nil
}

// waiters are the processes that wait, a row each, for the page: longest first, with ages of
// when the nodes were read. Calls beyond one of each, which have no row, are counted.
func waiters(w *listing.Waits, v fleet.Votes) (rows []state.Waiter, omitted int) {
	rows = []state.Waiter{}
	if w == nil {
		return rows, 0
	}
	for i := range w.Locks {
		f := &w.Locks[i]
		for ahead, q := range f.Queue {
			row := state.Waiter{
				Resource: inspect.KeyText(f.Resource), For: f.Waited(q).Seconds(),
				Kind: string(locktrace.WaitHolder), Class: classOf(v, f.Lock),
				Ahead: ahead, Blocker: blocker(f.Lock),
			}
			if says := q.Says; says != nil {
				row.Instance, row.TraceID, row.CallSite = says.Instance, fleet.TraceID(says.Traceparent), says.CallSite
			}
			rows = append(rows, row)
		}
		omitted += f.Waiting() - len(f.Queue)
	}
	slices.SortStableFunc(rows, func(a, b state.Waiter) int { return cmp.Compare(b.For, a.For) })
	shown := min(len(rows), live.DefaultMaxShown)
	return rows[:shown], omitted + len(rows) - shown
}

// construct is what a record says that its lock is part of.
func construct(of records.Construct) state.Construct {
	return state.Construct{Kind: string(of.Kind), Slots: of.Slots}
}

// reading is who reads a read/write lock.
func reading(l *listing.Lock) (of state.Reading) {
	if l == nil || l.Readers == nil || l.Hold.Kind != lock.KindRead {
		return of
	}
	for _, r := range l.Readers.First {
		of.Add(r.Hold.Instance)
	}
	of.Readers = l.Readers.Count
	return of
}

func blocker(l *listing.Lock) *state.Blocker {
	if l == nil || !l.Held() {
		return nil
	}
	b := &state.Blocker{Holder: l.Hold.Instance, NeverExpires: l.TTL < 0, TraceID: fleet.TraceID(l.Hold.Traceparent),
		Fence: l.Hold.Fence, Reason: l.Hold.Reason, Done: l.Hold.Done}
	if !l.Hold.Since.IsZero() {
		b.Age = new(l.HeldFor().Seconds())
	}
	if l.TTL > 0 {
		b.Remaining = report.Seconds(l.TTL)
	}
	return b
}

// classOf is why the processes in the queue of a lock wait.
func classOf(v fleet.Votes, l *listing.Lock) string { return string(v.Class(l != nil && l.Held())) }

// votes asks the nodes that answered their last ping. One that was not pinged yet counts as one of them. The result is
// zero if they are no single set: a queue does not say which set its lock is on.
func (p *pings) votes(ctx context.Context) (v fleet.Votes) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	nodes, up := p.set()
	clients := make([]*redis.Client, len(nodes))
	for i, n := range nodes {
		if c, single := n.Client.(*redis.Client); single && up[i] {
			clients[i] = c
		}
	}
	v.Quorum = min(len(nodes), len(nodes)/2+1)
	standings := diagnosis.Standings(ctx, clients)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range standings {
		if h := p.seen[nodes[i].Name]; h != nil {
			h.standing = s
		}
		switch {
		case up[i] && s.Votes(): // also one that gives no account, for instance because the user may not send INFO
			v.Voting++
		case s.Quarantined:
			v.Quarantined++
		}
	}
	return v
}

// set is the nodes, and which have answered their last ping. There are none if they are several sets.
func (p *pings) set() (nodes []servers.Node, up []bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sets != 1 {
		return nil, nil
	}
	for _, n := range p.nodes {
		up = append(up, p.seen[n.Name].err == nil)
	}
	return p.nodes, up
}
