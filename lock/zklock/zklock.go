package zklock

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// noPrefix is the prefix unless lock.WithPrefix gives another: a root does here what a
// prefix does elsewhere.
const noPrefix = "lockscope: no prefix"

// New makes an engine on an ensemble, of which servers are the members as zk.Connect takes
// them: host:port each. It keeps one session, twice as long as lock.WithMaxTTL. It takes
// the options of package lock and those of this package, and fails with
// lock.ErrInvalidOption or lock.ErrInvalidNode without asking a server. Close must
// follow.
func New(servers []string, opts ...lock.Option) (*lock.Engine, error) {
	if len(servers) == 0 || slices.Contains(servers, "") {
		return nil, fmt.Errorf("%w: no servers, or an empty name", lock.ErrInvalidNode)
	}
	engine, err := lock.NewSettings(1, append([]lock.Option{lock.WithPrefix(noPrefix), lock.WithMaxTTL(DefaultMaxTTL)}, opts...)...)
	if err != nil {
		return nil, err
	}
	s, err := lock.DriverSettings(engine, defaultSettings())
	if err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	if engine.Prefix == noPrefix {
		engine.Prefix = ""
	}
	engine.Namespace = s.root
	link, err := connect(servers, sessionFor(engine.MaxTTL), s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lock.ErrInvalidNode, err)
	}
	n := newNode(engine.NodeName(0, strings.Join(servers, ",")), link, s)
	e, err := engine.NewEngine([]driver.Node{lock.Async(n)})
	if err != nil {
		_ = n.Close()
		return nil, err
	}
	return e, nil
}

// sessionFor is how long a session must last for locks of a TTL: what the ensemble's leader
// knows of a session's life may be as old as a heartbeat (a third of the session) and
// what the servers have not passed on yet (half a tick).
func sessionFor(ttl time.Duration) time.Duration { return 2 * ttl }

// longestTTL is the inverse of sessionFor.
func longestTTL(session time.Duration) time.Duration { return session / 2 }
