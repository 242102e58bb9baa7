package zklock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// noPrefix is the prefix unless lock.WithPrefix gives another: a root does here what a
// prefix does elsewhere.
const noPrefix = "lockscope: no prefix"

// New makes an engine on an ensemble, of which servers are the members as zk.Connect takes
// them: host:port each. It keeps one session, as long as [SessionFor] says. It takes
// the options of package lock and those of this package, and fails with
// lock.ErrInvalidOption or lock.ErrInvalidNode without asking a server. Close must
// follow.
func New(servers []string, opts ...lock.Option) (*engine.Engine, error) {
	if len(servers) == 0 || slices.Contains(servers, "") {
		return nil, fmt.Errorf("%w: no servers, or an empty name", lock.ErrInvalidNode)
	}
	base, err := engine.NewSettings(1, append([]lock.Option{lock.WithPrefix(noPrefix), lock.WithMaxTTL(DefaultMaxTTL)},
		opts...)...)
	if err != nil {
		return nil, err
	}
	s, err := engine.DriverSettings(base, defaultSettings())
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
	link, err := connect(servers, SessionFor(base.MaxTTL), base.LongestNodeTimeout(), s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lock.ErrInvalidNode, err)
	}
	n := newNode(base.NodeName(0, strings.Join(servers, ",")), link, s, base.Clock)
	e, err := base.NewEngine([]driver.Node{engine.Async(n)})
	if err != nil {
		_ = n.Close()
		return nil, err
	}
	return e, nil
}
