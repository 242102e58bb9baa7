package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

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
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

var (
	errNotYet    = errors.New("waiters have not been read yet")
	errNotListed = errors.New("locks have not been read yet")
	errCutShort  = errors.New("the time for a listing was over before all keys were read")
)

// unlisted is why held locks may be missing from the listings; nil if none can be.
func unlisted(parts []part) error {
	var why []error
	for i := range parts {
		why = append(why, inSet(parts[i].set, parts[i].unlisted()))
	}
	return errors.Join(why...)
}

func (p *part) unlisted() error {
	if p.Started.IsZero() {
		return errNotListed
	}
	missing, why := 0, error(nil)
	for _, n := range p.Nodes {
		if n.Truncated {
			missing, why = missing+1, errors.Join(why, n.Err)
		}
	}
	switch {
	case missing == 0, p.sources > 1 && missing <= p.sources/2: // a held lock is on one of the others, too
		return nil
	case why == nil:
		why = errCutShort
	}
	return fmt.Errorf("not all locks were listed: %w", why)
}

// inSet is an error with the name of the set, if it has one.
func inSet(set string, err error) error {
	if err == nil || set == "" {
		return err
	}
	return fmt.Errorf("%s: %w", set, err)
}

// unread is why some waiters are unknown; nil if all are known.
func unread(parts []part) error {
	if len(parts) == 0 {
		return errNotYet
	}
	var why []error
	for i := range parts {
		why = append(why, inSet(parts[i].set, unreadWaits(parts[i].Waits)))
	}
	return errors.Join(why...)
}

func unreadWaits(w *listing.Waits) error {
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
func waiters(parts []part) (rows []state.Waiter, omitted int) {
	rows = []state.Waiter{}
	for i := range parts {
		if parts[i].Waits != nil {
			rows, omitted = parts[i].waiters(rows, omitted)
		}
	}
	slices.SortStableFunc(rows, func(a, b state.Waiter) int { return cmp.Compare(b.For, a.For) })
	shown := min(len(rows), live.DefaultMaxShown)
	return rows[:shown], omitted + len(rows) - shown
}

func (p *part) waiters(rows []state.Waiter, omitted int) ([]state.Waiter, int) {
	for i := range p.Waits.Locks {
		f := &p.Waits.Locks[i]
		for ahead, q := range f.Queue {
			row := state.Waiter{
				Resource: inspect.KeyText(f.Resource), Backend: p.set, For: f.Waited(q).Seconds(),
				Kind: string(locktrace.WaitHolder), Class: classOf(p.votes, f.Lock),
				Ahead: ahead, Blocker: blocker(f.Lock),
			}
			if says := q.Says; says != nil {
				row.Instance, row.TraceID, row.CallSite = says.Instance, fleet.TraceID(says.Traceparent), says.CallSite
			}
			rows = append(rows, row)
		}
		omitted += f.Waiting() - len(f.Queue)
	}
	return rows, omitted
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

// askVotes asks the nodes of each set that answered their last ping. One that was not pinged yet counts as one of them.
func (p *pings) askVotes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	sets, _ := p.followed()
	all := make([]fleet.Votes, len(sets))
	var asking sync.WaitGroup
	for i := range sets {
		asking.Go(func() { all[i] = p.votesOf(ctx, sets[i].nodes) })
	}
	asking.Wait()
	votes := make(map[string]fleet.Votes)
	for i := range sets {
		votes[sets[i].name] = all[i]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.votes = votes
}

// voted are the parts with the votes of the last questions: a listing of many keys is older by minutes.
func (p *pings) voted(parts []part) []part {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].votes = p.votes[parts[i].set]
	}
	return parts
}

func (p *pings) votesOf(ctx context.Context, nodes []servers.Node) (v fleet.Votes) {
	up := p.up(nodes)
	_, seen := p.followed()
	accounts := make([]guard.Account, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		c, single := n.Client.(*redis.Client)
		if h := seen[n.Name]; single && up[i] && h != nil && !h.noInfo {
			asking.Go(func() { accounts[i] = h.account(ctx, c) })
		}
	}
	asking.Wait()
	v.Quorum = min(len(nodes), len(nodes)/2+1)
	standings := guard.Judge(accounts, p.services, time.Now())
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

var errNoMarker = errors.New("this user may not read the marker")

// account asks a node what decides whether it may vote. What is refused is not asked again, because each refusal is a line
// in the server's ACL LOG.
func (h *health) account(ctx context.Context, c *redis.Client) guard.Account {
	a := diagnosis.AccountOf(ctx, c, !h.noMarker)
	switch denied := redis.HasErrorPrefix(a.Err, "NOPERM"); {
	case denied && a.Info == "":
		h.noInfo = true
	case denied:
		h.noMarker = true
	case h.noMarker && a.Err == nil:
		a.Err = errNoMarker
	}
	return a
}

// up says which nodes have answered their last ping.
func (p *pings) up(nodes []servers.Node) (up []bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range nodes {
		h := p.seen[n.Name]
		up = append(up, h != nil && h.err == nil)
	}
	return up
}
