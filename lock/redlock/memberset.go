package redlock

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// memberSet is the nodes of a vouch or a change, and the configuration of their locks.
type memberSet struct {
	members     guard.Members
	fingerprint guard.Fingerprint
	quarantine  time.Duration
}

// newMemberSet connects to nothing yet.
func newMemberSet(nodes []redis.UniversalClient, opts []lock.Option) (*memberSet, error) {
	nodes = redisconn.UnwrapAll(nodes)
	if err := checkClients(nodes); err != nil {
		return nil, err
	}
	engine, own, err := newSettings(len(nodes), opts)
	if err != nil {
		return nil, err
	}
	set := &memberSet{quarantine: Quarantine(engine.MaxTTL)}
	var names []string
	for i, n := range nodes {
		c, ok := n.(*redis.Client)
		if !ok || c == nil {
			set.close()
			return nil, fmt.Errorf("%w: node %d is a %T, which has no marker: use a *redis.Client", lock.ErrInvalidNode,
				i+1, n)
		}
		conn := c.Conn()
		m := &guard.Member{
			Name: engine.NodeName(i, redisconn.Name(c.Options())), DB: c.Options().DB,
			Conn: scripts.NewMember(conn), EvictionOK: own.evictionOK,
			ByMarker: own.byMarker,
		}
		set.members, names = append(set.members, m), append(names, m.Name)
	}
	set.fingerprint = guard.NewFingerprint(names, engine.MaxTTL)
	return set, nil
}

func (s *memberSet) close() {
	for _, m := range s.members {
		_ = m.Conn.(scripts.Member).Close()
	}
}
