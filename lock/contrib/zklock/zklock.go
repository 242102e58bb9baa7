package zklock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock"
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
