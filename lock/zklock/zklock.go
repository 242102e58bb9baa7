package zklock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// noPrefix is the prefix unless lock.WithPrefix gives another: a root does here what a
// prefix does elsewhere.
const noPrefix = "lockscope: no prefix"

// New makes an engine on an ensemble, of which servers are the members as zk.Connect takes
// them: host:port each. It keeps one session, as long as [SessionFor] says. It takes
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
	link, err := connect(servers, SessionFor(engine.MaxTTL), engine.LongestNodeTimeout(), s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lock.ErrInvalidNode, err)
	}
	n := newNode(engine.NodeName(0, strings.Join(servers, ",")), link, s, engine.Clock)
	e, err := engine.NewEngine([]driver.Node{lock.Async(n)})
	if err != nil {
		_ = n.Close()
		return nil, err
	}
	return e, nil
}
