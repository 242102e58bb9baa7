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
	noEviction      bool
	byMarker        bool
	unguarded       bool
	hooks           []redis.Hook
}

// option is an Option of this package.
type option struct {
	lock.DriverOption
	set func(*settings)
}

// settingsOf applies the options of this package among those of base to defaults.
func settingsOf(base *engine.Settings, defaults settings) (settings, error) {
	err := base.ForDriver(func(o lock.Option) bool {
		own, ok := o.(option)
		if ok {
			own.set(&defaults)
		}
		return ok
	})
	return defaults, err
}

// WithRestartQuarantine sets how long a node that restarted or lost its data may not vote, instead of
// [Quarantine]. It applies to any number of nodes. Without this option one or two nodes vote at
// once after a restart, and Trace.NodeRestart reports it.
//
// A shorter time is safe only if the nodes lose nothing when they restart, or if no lock can have
// been held before. 0 turns the quarantine off. A node with the marker of another set of three or more
// still refuses.
//
// To let new nodes vote at once, use [Vouch] instead: it applies until their next restart, while this
// option applies to every restart.
func WithRestartQuarantine(d time.Duration) lock.Option {
	return option{set: func(s *settings) { s.quarantine, s.quarantineGiven = d, true }}
}

// WithEvictingNodes accepts nodes that may evict locks while they are held, or that do not report
// their maxmemory-policy. It ignores how many keys they have evicted. Mutual exclusion then depends
// on their free memory.
//
// Set it in all processes that lock on the same nodes, or in none. With and without it, processes
// expect different markers of a node that evicted keys, and quarantine it for each other.
func WithEvictingNodes() lock.Option {
	return option{set: func(s *settings) { s.evictionOK = true }}
}

// WithMarkerIdentity accepts servers whose INFO has no run_id, such as those of some managed services. Instead, an
// identity in its marker identifies such a server. The marker is kept and lost with the server's data, so the promise is
// smaller: see "Servers without a run_id" in the documentation of the package. A server that has a run_id is still
// identified by it. Set the option in all processes that lock on the same nodes, also for [Vouch] and [Reconfigure].
func WithMarkerIdentity() lock.Option {
	return option{set: func(s *settings) { s.byMarker = true }}
}

// WithoutEviction declares that servers that do not report their maxmemory-policy evict no keys. If that is wrong, two
// leases can be valid. Servers that report a policy that evicts are still refused.
func WithoutEviction() lock.Option {
	return option{set: func(s *settings) { s.noEviction = true }}
}

// WithoutGuard turns the check of the nodes off: INFO on every new connection, and with a vote once
// a second. Restarts, replicas, duplicates and evictions are then not detected. Use it for servers that
// do not permit INFO.
func WithoutGuard() lock.Option {
	return option{set: func(s *settings) { s.unguarded = true }}
}

// WithHook adds a go-redis hook to the engine's own connections. You need it for dial hooks and for
// the hooks of a cluster client, because go-redis does not let other packages read them. Process and
// pipeline hooks of a standalone client are used without it.
func WithHook(h redis.Hook) lock.Option {
	return option{set: func(s *settings) { s.hooks = append(s.hooks, h) }}
}

// newSettings are the engine's settings and this package's.
func newSettings(nodes int, opts []lock.Option) (*engine.Settings, settings, error) {
	base, err := engine.NewSettings(nodes, opts...)
	if err != nil {
		return nil, settings{}, err
	}
	s, err := settingsOf(base, settings{})
	if err != nil {
		return nil, s, err
	}
	if !s.quarantineGiven {
		s.quarantine = Quarantine(base.MaxTTL)
	}
	if s.quarantine < 0 {
		return nil, s, fmt.Errorf("%w: WithRestartQuarantine(%v): negative: use 0 or more", lock.ErrInvalidOption,
			s.quarantine)
	}
	return base, s, nil
}

// guard configures the check of the nodes. With fewer than three nodes a restart is only reported, unless
// the caller asked for a quarantine: one node that does not vote would be an outage.
func (s *settings) guard(servers *guard.Servers, clock engine.Clock, nodes int) guard.Config {
	return guard.Config{
		Servers: servers, Clock: clock, Off: s.unguarded, EvictionOK: s.evictionOK,
		NoEviction: s.noEviction, ByMarker: s.byMarker,
		Quarantine: s.quarantine, Enforce: s.quarantine > 0 && (nodes >= guard.EnforcedFrom || s.quarantineGiven),
	}
}

// minQuarantine leaves room for the error of a clock that fences continue from.
const minQuarantine = 15 * time.Second

// Quarantine returns how long a server that may have forgotten locks does not vote: until none of
// them can be valid, given the longest TTL, and at least 15 seconds.
func Quarantine(maxTTL time.Duration) time.Duration {
	return max(maxTTL+engine.Drift(maxTTL), minQuarantine)
}
