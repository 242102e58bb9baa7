package redlock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// memberSet are the nodes of an act, and what their locks are configured with.
type memberSet struct {
	members     guard.Members
	fingerprint guard.Fingerprint
	quarantine  time.Duration
}

// newMemberSet connects to nothing yet.
func newMemberSet(nodes []redis.UniversalClient, opts []lock.Option) (*memberSet, error) {
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
			return nil, fmt.Errorf("%w: node %d is a %T: only servers of their own have a marker", lock.ErrInvalidNode, i+1, n)
		}
		conn := c.Conn()
		m := &guard.Member{
			Name: engine.NodeName(i, redisconn.Name(c.Options())), DB: c.Options().DB,
			Conn: memberConn{server: server{process: conn}, conn: conn}, EvictionOK: own.evictionOK,
		}
		set.members, names = append(set.members, m), append(names, m.Name)
	}
	set.fingerprint = guard.NewFingerprint(names, engine.MaxTTL)
	return set, nil
}

func (s *memberSet) close() {
	for _, m := range s.members {
		_ = m.Conn.(memberConn).conn.Close()
	}
}

// memberConn is the one connection of an act to a node.
type memberConn struct {
	server
	conn *redis.Conn
}

func (c memberConn) Mark(ctx context.Context, m guard.Mark) (code int, marker string, err error) {
	reply, err := c.conn.Eval(ctx, markLua, []string{guard.MarkerKey}, m.Args()...).Result()
	if err != nil {
		return 0, "", err
	}
	n, marker, _, err := parseMarker(reply, guard.MarkRefused, guard.MarkVotes)
	return int(n), marker, err
}

func (c memberConn) Replace(ctx context.Context, prefix, marker string) (bool, error) {
	reply, err := c.conn.Eval(ctx, replaceLua, []string{guard.MarkerKey}, prefix, marker).Result()
	if err != nil {
		return false, err
	}
	code, err := parseCode(reply, 0, 1)
	return code == 1, err
}

func (c memberConn) Used(ctx context.Context) (string, error) {
	if keys, err := c.conn.DBSize(ctx).Result(); err == nil && keys <= 1 {
		return "", nil // nothing but the marker
	}
	keys := c.conn.Scan(ctx, 0, "lockscope:*", 1000).Iterator()
	for keys.Next(ctx) {
		if key := keys.Val(); key != guard.MarkerKey {
			return kindOf(key), nil
		}
	}
	return "", keys.Err()
}

// kindOf is the part of a key that says what is there. The rest may name an owner's token.
func kindOf(key string) string {
	parts := strings.SplitN(key, ":", 3)
	return strconv.Quote(strings.Join(parts[:min(len(parts), 2)], ":") + ":...")
}
