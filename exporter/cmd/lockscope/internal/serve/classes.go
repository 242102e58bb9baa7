package serve

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/scanner/listing"
)

// votes is what the nodes say of their votes. It is zero if they are no single set: a queue does not say which set its
// lock is on.
type votes struct {
	nodes, up   int
	quarantined int // of those that are up
}

func (v votes) quorum() int { return v.nodes/2 + 1 }

// class is why the processes in the queue of a lock wait. It is empty if the nodes do not tell: the lock may be free by
// now, or its votes split.
func (v votes) class(l *listing.Lock) locktrace.Wait {
	switch {
	case v.nodes > 0 && v.up < v.quorum():
		return locktrace.WaitNoQuorum
	case v.nodes >= diagnosis.EnforcedFrom && v.up-v.quarantined < v.quorum():
		return locktrace.WaitQuarantined
	case l != nil && l.Held():
		return locktrace.WaitHolder
	}
	return ""
}

// votes asks the nodes that are up for their markers if the set is one in which a quarantine counts.
func (p *pings) votes(ctx context.Context) (v votes) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	up, v := p.up()
	if v.nodes < diagnosis.EnforcedFrom {
		return v
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, n := range up {
		asking.Go(func() {
			if !inQuarantine(ctx, n) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			v.quarantined++
		})
	}
	asking.Wait()
	return v
}

// up has the nodes that have answered their last ping. A node that was not pinged yet counts as one of them.
func (p *pings) up() (up []servers.Node, v votes) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sets != 1 {
		return nil, v
	}
	for _, n := range p.nodes {
		if p.seen[n.Name].err == nil {
			up = append(up, n)
		}
	}
	return up, votes{nodes: len(p.nodes), up: len(up)}
}

// inQuarantine is false for a node whose quarantine is over, and for one that does not tell, for instance because the
// user may not send INFO.
func inQuarantine(ctx context.Context, n servers.Node) bool {
	c, ok := n.Client.(*redis.Client)
	if !ok {
		return false
	}
	text, err := c.Info(ctx).Result()
	if err != nil {
		return false
	}
	m, err := diagnosis.ReadMarker(ctx, c, redisinfo.Parse(text).Incarnation())
	return err == nil && m.State == redlock.MarkerQuarantined && m.Left(0, time.Now()) > 0
}
