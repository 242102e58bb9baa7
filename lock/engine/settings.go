package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/internal/settings"
)

const (
	// MinNodeTimeout and MaxNodeTimeout bound [DefaultNodeTimeout].
	MinNodeTimeout = nodes.MinNodeTimeout
	MaxNodeTimeout = nodes.MaxNodeTimeout
)

// Clock returns the time that has passed since some fixed point. It must never
// go back, and it must count time during which the machine was suspended.
type Clock func() time.Duration

// Settings are the result of an engine's options. Drivers read them; users set them with
// a [lock.Option] each.
type Settings struct {
	Prefix       string        // of the keys
	Instance     string        // this process, as others see it
	Backend      string        // name of the set of nodes; "" for what kind of system it is
	Namespace    string        // of [locktrace.Backend]; a driver sets it
	Servers      []string      // where the nodes are, without who connects; a driver sets it; empty: at their names
	NodeTimeout  time.Duration // 0: it follows the TTL
	MaxTTL       time.Duration
	PollInterval time.Duration
	CallSites    bool
	Page         string   // URL where this process shows its locks
	NodeNames    []string // in the order of the nodes; empty for their own
	Clock        Clock
	Random       func(n int64) int64

	nodes   int
	acquire []lock.AcquireOption
	driver  []any // what DriverOption was given
	closers []func() error
}

// NewSettings applies opts to the defaults for a set of that many nodes. It fails with
// [lock.ErrInvalidOption], with [lock.ErrInvalidTTL], or with [lock.ErrInvalidNode] if there
// are no nodes or more than [lock.MaxNodes].
func NewSettings(nodes int, opts ...lock.Option) (*Settings, error) {
	said := settings.Engine[lock.AcquireOption]{
		Prefix:       lock.DefaultPrefix,
		Instance:     defaultInstance(),
		MaxTTL:       lock.DefaultMaxTTL,
		PollInterval: lock.DefaultPollInterval,
		Random:       rand.Int64N,
	}
	for _, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: nil Option", lock.ErrInvalidOption)
		}
		opt(&said)
	}
	s := settingsOf(nodes, said)
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.Clock == nil {
		s.Clock = clock.New()
	}
	return s, nil
}

func settingsOf(nodes int, said settings.Engine[lock.AcquireOption]) *Settings {
	return &Settings{
		Prefix:       said.Prefix,
		Instance:     said.Instance,
		Backend:      said.Backend,
		NodeTimeout:  said.NodeTimeout,
		MaxTTL:       said.MaxTTL,
		PollInterval: said.PollInterval,
		CallSites:    said.CallSites,
		Page:         said.Page,
		NodeNames:    said.NodeNames,
		Clock:        said.Clock,
		Random:       said.Random,
		nodes:        nodes,
		acquire:      said.Acquire,
		driver:       said.Driver,
		closers:      said.Closers,
	}
}

// DriverOption makes an Option of a driver's own: apply changes the driver's settings,
// of type T, when the driver asks for them with [DriverSettings].
func DriverOption[T any](apply func(*T)) lock.Option {
	return func(s *settings.Engine[lock.AcquireOption]) { s.Driver = append(s.Driver, apply) }
}

// OnClose makes an Option by which the engine's Close also calls f: see [Settings.OnClose].
func OnClose(f func() error) lock.Option {
	return func(s *settings.Engine[lock.AcquireOption]) { s.Closers = append(s.Closers, f) }
}

// DriverSettings applies the options of a driver, made with [DriverOption] for type T,
// to its defaults. An option of another driver is refused with [lock.ErrInvalidOption].
func DriverSettings[T any](s *Settings, defaults T) (T, error) {
	for _, opt := range s.driver {
		apply, ok := opt.(func(*T))
		if !ok {
			return defaults, fmt.Errorf("%w: %T is another driver's", lock.ErrInvalidOption, opt)
		}
		apply(&defaults)
	}
	s.driver = nil
	return defaults, nil
}

// OnClose has the engine's Close call f after the nodes are closed, and join its error. A driver
// closes that way what it has opened beside its nodes.
func (s *Settings) OnClose(f func() error) { s.closers = append(s.closers, f) }

// NodeName is the name of node i: the one given for it, or else its own.
func (s *Settings) NodeName(i int, own string) string {
	if len(s.NodeNames) > i {
		return s.NodeNames[i]
	}
	return own
}

func (s *Settings) validate() error {
	if err := lock.ValidateResource(s.Prefix); err != nil {
		return fmt.Errorf("%w: WithPrefix: %w", lock.ErrInvalidOption, err)
	}
	switch {
	case s.nodes == 0 || s.nodes > lock.MaxNodes:
		return fmt.Errorf("%w: %d nodes, between 1 and %d are needed", lock.ErrInvalidNode, s.nodes, lock.MaxNodes)
	case s.Instance == "":
		return fmt.Errorf("%w: WithInstance: it is empty", lock.ErrInvalidOption)
	case s.NodeTimeout != 0 && s.NodeTimeout < time.Millisecond:
		return fmt.Errorf("%w: WithNodeTimeout(%v): at least 1ms", lock.ErrInvalidOption, s.NodeTimeout)
	case s.PollInterval < time.Millisecond:
		return fmt.Errorf("%w: WithPollInterval(%v): at least 1ms", lock.ErrInvalidOption, s.PollInterval)
	case s.MaxTTL < s.minTTL() || s.MaxTTL > maxMaxTTL:
		return fmt.Errorf("%w: WithMaxTTL(%v): between %v and %v with a node timeout of %v",
			lock.ErrInvalidOption, s.MaxTTL, s.minTTL(), maxMaxTTL, s.config().NodeTimeout(0))
	case len(s.NodeNames) != 0 && len(s.NodeNames) != s.nodes:
		return fmt.Errorf("%w: WithNodeNames: %d names for %d nodes", lock.ErrInvalidOption, len(s.NodeNames), s.nodes)
	case !settings.Shows(s.Backend + " " + strings.Join(s.NodeNames, " ")):
		return fmt.Errorf("%w: WithBackend(%q), WithNodeNames(%q): remove control characters, and use UTF-8",
			lock.ErrInvalidOption, s.Backend, s.NodeNames)
	case slices.Contains(s.NodeNames, ""):
		return fmt.Errorf("%w: WithNodeNames: a name is empty", lock.ErrInvalidOption)
	case !records.ValidPage(s.Page):
		return fmt.Errorf("%w: WithPage: an absolute http or https URL without credentials is needed",
			lock.ErrInvalidOption)
	case s.Random == nil:
		return fmt.Errorf("%w: WithRandom: it is nil", lock.ErrInvalidOption)
	}
	if err := s.validateAcquire(lock.NewAcquireOptions(s.acquire...)); len(s.acquire) > 0 && err != nil {
		return fmt.Errorf("WithDefaults: %w", err)
	}
	return nil
}

// config is what the calls on nodes need of the settings.
func (s *Settings) config() *nodes.Config {
	return &nodes.Config{
		Prefix: s.Prefix, Instance: s.Instance, Page: s.Page, MaxTTL: s.MaxTTL, PollInterval: s.PollInterval,
		Timeout: s.NodeTimeout, Clock: s.Clock, Random: s.Random,
	}
}

// acquireOptions are those of one Acquire.
func (s *Settings) acquireOptions(opts []lock.AcquireOption) lock.AcquireOptions {
	o := lock.NewAcquireOptions(s.acquire...)
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// validateAcquire refuses options that no Acquire with these settings can serve.
func (s *Settings) validateAcquire(o lock.AcquireOptions) error {
	switch {
	case o.TTL <= 0:
		return fmt.Errorf("%w: %v is not positive", lock.ErrInvalidTTL, o.TTL)
	case o.TTL < s.minTTL():
		return fmt.Errorf("%w: %v is too short for a node timeout of %v: use at least %v or lower the node timeout",
			lock.ErrInvalidTTL, o.TTL, s.config().NodeTimeout(o.TTL), s.minTTL())
	case o.TTL > s.MaxTTL:
		return fmt.Errorf("%w: %v is above MaxTTL %v: lower it, or raise WithMaxTTL in every process using these nodes",
			lock.ErrInvalidTTL, o.TTL, s.MaxTTL)
	case o.MaxWait < 0:
		return fmt.Errorf("%w: MaxWait(%v) is negative", lock.ErrInvalidOption, o.MaxWait)
	case o.MaxAttempts < 0:
		return fmt.Errorf("%w: MaxAttempts(%d) is negative", lock.ErrInvalidOption, o.MaxAttempts)
	case o.MaxHold <= 0:
		return fmt.Errorf("%w: MaxHold(%v) is not positive: use Unlimited for no limit", lock.ErrInvalidOption,
			o.MaxHold)
	case !o.Kind.Valid():
		return fmt.Errorf("%w: there is no kind %q", lock.ErrInvalidOption, o.Kind)
	case isConstructs(o.Kind) && !o.Construct.Marks(string(o.Kind)):
		return fmt.Errorf("%w: kind %q is not set by package rwlock or semaphore: use that package", lock.ErrInvalidOption,
			o.Kind)
	case o.Slots < 0:
		return fmt.Errorf("%w: %d slots", lock.ErrInvalidOption, o.Slots)
	case o.HoldReason != "":
		return lock.ValidateReason(o.HoldReason)
	}
	return nil
}

// isConstructs reports whether the kind changes what a lock is: several holders, or another resource than was asked for.
// Only its construct knows how to use such a lease.
func isConstructs(k lock.Kind) bool {
	return k == lock.KindRead || k == lock.KindWrite || k == lock.KindSemaphore
}

// maxMaxTTL keeps milliseconds and arithmetic on them far from overflow.
const maxMaxTTL = 30 * 24 * time.Hour

// minTTL leaves time for a vote, a fence round and a renewal that meet a hung node.
func (s *Settings) minTTL() time.Duration { return 4 * s.config().NodeTimeout(0) }

// DefaultNodeTimeout is how long one command on one node may take for a lock of this TTL: a
// twentieth of the TTL, at least [MinNodeTimeout] and at most [MaxNodeTimeout]. A vote waits
// for no slow node, so the timeout matters only if a quorum is slow, or this process is: a
// container with a CPU quota may be stopped for most of every 100 ms, and reads its answers
// late.
func DefaultNodeTimeout(ttl time.Duration) time.Duration {
	return nodes.DefaultNodeTimeout(ttl)
}

// LongestNodeTimeout is the longest that a command on a node may take, whatever the TTL.
func (s *Settings) LongestNodeTimeout() time.Duration { return s.config().LongestNodeTimeout() }

// Drift is the part of the TTL that a lease does not use because clocks differ: 1 % of the TTL
// for their rate, and 2 ms for the granularity of expiry on the nodes, as in the Redlock text of
// the Redis documentation.
func Drift(ttl time.Duration) time.Duration { return nodes.Drift(ttl) }

// defaultInstance names this process as people look for it: host and pid.
func defaultInstance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return host + "/" + strconv.Itoa(os.Getpid())
}
