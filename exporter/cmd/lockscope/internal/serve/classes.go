package serve

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/scanner/listing"
)

// votes is what the nodes say of their votes. It is zero if they are no single set: a queue does not say which set its
// lock is on.
type votes struct{ nodes, voting, quarantined int }

func (v votes) quorum() int { return v.nodes/2 + 1 }

// class is why the processes in the queue of a lock wait. It is empty if the nodes do not tell: the lock may be free by
// now, or its votes split.
func (v votes) class(l *listing.Lock) locktrace.Wait {
	switch {
	case v.nodes > 0 && v.voting+v.quarantined < v.quorum():
		return locktrace.WaitNoQuorum
	case v.nodes > 0 && v.voting < v.quorum():
		return locktrace.WaitQuarantined
	case l != nil && l.Held():
		return locktrace.WaitHolder
	}
	return ""
}

// votes asks the nodes that answered their last ping. One that was not pinged yet counts as one of them.
func (p *pings) votes(ctx context.Context) (v votes) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	nodes, up := p.set()
	clients := make([]*redis.Client, len(nodes))
	for i, n := range nodes {
		if c, single := n.Client.(*redis.Client); single && up[i] {
			clients[i] = c
		}
	}
	v.nodes = len(nodes)
	for i, s := range diagnosis.Standings(ctx, clients) {
		switch {
		case up[i] && s.Votes(): // also one that gives no account, for instance because the user may not send INFO
			v.voting++
		case s.Quarantined:
			v.quarantined++
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
