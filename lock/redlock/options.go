package redlock

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// settings are the options of this package.
type settings struct {
	quarantine      time.Duration // by MaxTTL unless given
	quarantineGiven bool
	evictionOK      bool
	unguarded       bool
	hooks           []redis.Hook
}

// WithRestartQuarantine sets for how long a node that restarted, or lost its data, may
// not vote, instead of [Quarantine]. Anything shorter, and 0 which switches it off, is
// safe only if the nodes lose nothing when they restart, or if no lock can have been held
// before; with 0 nodes vote for any set of nodes, too. Without this option one or two
// nodes vote at once after a restart, and Trace.NodeRestart reports it; given, it holds
// for any number of nodes. To let a set of new nodes vote at once, use [Vouch]
// instead: it holds until their next restart, an option for every one.
func WithRestartQuarantine(d time.Duration) lock.Option {
	return engine.DriverOption(func(s *settings) { s.quarantine, s.quarantineGiven = d, true })
}

// WithEvictingNodes accepts nodes that may evict locks while they are held, or do not
// report their maxmemory-policy, and does not ask how many keys they have evicted. Mutual
// exclusion is then only as good as their free memory. All processes that lock on the
// same nodes have to give it, or none: they expect different proofs of a node that has
// evicted keys, and keep it silent for each other.
func WithEvictingNodes() lock.Option {
	return engine.DriverOption(func(s *settings) { s.evictionOK = true })
}

// WithoutGuard skips the examination of the nodes (INFO on every new connection, and
// with a vote once a second): restarts, replicas, duplicates and eviction go unnoticed.
// For servers on which INFO is not permitted.
func WithoutGuard() lock.Option {
	return engine.DriverOption(func(s *settings) { s.unguarded = true })
}

// WithHook adds a go-redis hook to lockscope's own connections. Process
// and pipeline hooks of a given standalone client are carried over without it;
// dial hooks and the hooks of a cluster client cannot be read from outside
// go-redis and are wanted here.
func WithHook(h redis.Hook) lock.Option {
	return engine.DriverOption(func(s *settings) { s.hooks = append(s.hooks, h) })
}

// newSettings are the engine's settings and this package's.
func newSettings(nodes int, opts []lock.Option) (*engine.Settings, settings, error) {
	base, err := engine.NewSettings(nodes, opts...)
	if err != nil {
		return nil, settings{}, err
	}
	s, err := engine.DriverSettings(base, settings{})
	if err != nil {
		return nil, s, err
	}
	if !s.quarantineGiven {
		s.quarantine = Quarantine(base.MaxTTL)
	}
	if s.quarantine < 0 {
		return nil, s, fmt.Errorf("%w: WithRestartQuarantine(%v): it is negative", lock.ErrInvalidOption, s.quarantine)
	}
	return base, s, nil
}

// guard is how nodes are examined. With fewer than three of them a restart is only
// reported unless more is asked for: there a node that is silent is an outage, and a
// quorum that outlives a node was never promised.
func (s *settings) guard(servers *guard.Servers, clock engine.Clock, nodes int) guard.Config {
	return guard.Config{
		Servers: servers, Clock: clock, Off: s.unguarded, EvictionOK: s.evictionOK,
		Quarantine: s.quarantine, Enforce: s.quarantine > 0 && (nodes >= 3 || s.quarantineGiven),
	}
}
