package diagnosis

import (
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// otherServers is the heading of the flags.
const otherServers = "Servers that report less than Redis"

// GuardFlags accept servers that the guard of package redlock refuses: see "lockscope help connection". They are those
// of the services on the same servers.
type GuardFlags struct {
	MarkerIdentity  bool // redlock.WithMarkerIdentity
	WithoutEviction bool // redlock.WithoutEviction
	EvictingNodes   bool // redlock.WithEvictingNodes
	WithoutGuard    bool // redlock.WithoutGuard
}

// Register adds the flags.
func (g *GuardFlags) Register(set *pflag.FlagSet) {
	g.RegisterForActs(set)
	set.BoolVar(&g.WithoutGuard, "without-guard", false,
		"do not check Redis servers at all: WithoutGuard of the services")
	ui.Group(set, otherServers, "without-guard")
}

// RegisterForActs adds the flags of a command that marks servers, which the guard has to know.
func (g *GuardFlags) RegisterForActs(set *pflag.FlagSet) {
	set.BoolVar(&g.MarkerIdentity, "marker-identity", false,
		"accept Redis servers whose INFO has no run_id: WithMarkerIdentity of the services")
	set.BoolVar(&g.WithoutEviction, "without-eviction", false,
		"state that Redis servers without a maxmemory_policy in INFO evict nothing: WithoutEviction of the services")
	set.BoolVar(&g.EvictingNodes, "evicting-nodes", false,
		"accept Redis servers that may evict locks: WithEvictingNodes of the services")
	ui.Group(set, otherServers, "marker-identity", "without-eviction", "evicting-nodes")
}

// Options are those of the services.
func (g GuardFlags) Options() (opts []lock.Option) {
	if g.MarkerIdentity {
		opts = append(opts, redlock.WithMarkerIdentity())
	}
	if g.WithoutEviction {
		opts = append(opts, redlock.WithoutEviction())
	}
	if g.EvictingNodes {
		opts = append(opts, redlock.WithEvictingNodes())
	}
	if g.WithoutGuard {
		opts = append(opts, redlock.WithoutGuard())
	}
	return opts
}

// Judged is what guard.Judge takes into account.
func (g GuardFlags) Judged() guard.Config {
	return guard.Config{
		EvictionOK: g.EvictingNodes, NoEviction: g.WithoutEviction, ByMarker: g.MarkerIdentity, Off: g.WithoutGuard,
	}
}
