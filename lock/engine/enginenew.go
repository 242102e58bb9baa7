package engine

import (
	"cmp"
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/contest"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// NewEngine makes an engine on nodes of any driver, such as the fakes of package
// locktest. The engine's Close closes the nodes. Drivers for real systems have
// constructors of their own that return an Engine; see package redlock.
//
// It fails with [lock.ErrInvalidNode] if there are no nodes, too many, or two of one name,
// and with [lock.ErrInvalidOption] also for an option that belongs to a driver. It opens no
// connection, and leaves the nodes open if it fails.
func NewEngine(nodes []driver.Node, opts ...lock.Option) (*Engine, error) {
	s, err := NewSettings(len(nodes), opts...)
	if err != nil {
		return nil, err
	}
	return s.NewEngine(nodes)
}

// NewEngine is the last step of a driver's constructor: it makes the engine on as many
// nodes as the settings are for. See the function [NewEngine].
func (s *Settings) NewEngine(members []driver.Node) (*Engine, error) {
	switch {
	case len(members) != s.nodes:
		return nil, fmt.Errorf("%w: got %d nodes, settings are for %d", lock.ErrInvalidNode, len(members), s.nodes)
	case len(s.Driver) > 0:
		return nil, notOfDriver(s.Driver[0])
	}
	if err := checkNames(members); err != nil {
		return nil, err
	}
	set := nodes.NewSet(s.config(), members, locktrace.Backend{
		System: members[0].System(), Name: cmp.Or(s.Backend, members[0].System()), Namespace: s.Namespace,
		Keyspace: nodes.Keyspace(s.Servers, s.Namespace, s.Prefix, members),
	})
	return &Engine{Set: set, core: contest.New(set), settings: s}, nil
}

// checkNames refuses equal names: errors, traces and metrics tell nodes apart by name.
func checkNames(nodes []driver.Node) error {
	first := make(map[string]int)
	for i, n := range nodes {
		if j, taken := first[n.Name()]; taken {
			return fmt.Errorf("%w: %w: nodes %d and %d are both called %q: tell them apart with WithNodeNames",
				lock.ErrInvalidNode, driver.ErrDuplicate, j+1, i+1, n.Name())
		}
		first[n.Name()] = i
	}
	return nil
}
