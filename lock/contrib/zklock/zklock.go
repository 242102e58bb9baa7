package zklock

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/node"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// noPrefix stands for "no prefix given": here the root separates locks from other data.
const noPrefix = "lockscope: no prefix"

// New returns an engine for an ensemble. servers lists its members as host:port, as zk.Connect takes
// them. The engine keeps one session, with the timeout that [SessionFor] returns.
//
// New accepts the options of package lock and of this package. It does not wait for a server. It
// fails with lock.ErrInvalidOption, lock.ErrInvalidTTL or lock.ErrInvalidNode. Close the engine when
// you are done with it.
func New(servers []string, opts ...lock.Option) (*engine.Engine, error) {
	if len(servers) == 0 || slices.Contains(servers, "") {
		return nil, fmt.Errorf("%w: no servers, or one with an empty name: give host:port of each", lock.ErrInvalidNode)
	}
	base, err := engine.NewSettings(1, append([]lock.Option{lock.WithPrefix(noPrefix), lock.WithMaxTTL(DefaultMaxTTL)},
		opts...)...)
	if err != nil {
		return nil, err
	}
	s, err := settingsOf(base, defaultSettings())
	if err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	if base.Prefix == noPrefix {
		base.Prefix = ""
	}
	base.Namespace = s.root
	ensemble, err := store.New(servers, SessionFor(base.MaxTTL), base.LongestNodeTimeout(), s.connect, base.Clock)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lock.ErrInvalidNode, err)
	}
	n := node.New(base.NodeName(0, strings.Join(servers, ",")), ensemble, s.root, s.acl)
	e, err := base.NewEngine([]driver.Node{engine.Async(n)})
	if err != nil {
		_ = n.Close()
		return nil, err
	}
	return e, nil
}

// SessionFor returns the session timeout that [New] asks for, given the longest TTL (lock.WithMaxTTL).
// LongestTTL of that session is a little longer than maxTTL. A caller that waited no longer than the
// difference need not ask the leader whether its session lives.
func SessionFor(maxTTL time.Duration) time.Duration { return maxTTL * 5 / 2 }

// LongestTTL returns the longest TTL of a lock in sessions with the given timeout. It is how long a
// session still lives, at least, after one of its changes or syncs took effect.
//
// At that time the leader knew the session to be alive, but a change is no sign of life to the leader.
// Signs of life come from the server that the client is connected to, every half tick, and an idle
// client sends one every third of its session. The last of both may be lost. A session has at least
// two ticks, unless the ensemble's minSessionTimeout is lower.
func LongestTTL(session time.Duration) time.Duration { return store.LongestTTL(session) }
