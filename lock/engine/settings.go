package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/internal/text"
)

const (
	// MinNodeTimeout and MaxNodeTimeout bound [DefaultNodeTimeout].
	MinNodeTimeout = nodes.MinNodeTimeout
	MaxNodeTimeout = nodes.MaxNodeTimeout
)

// Clock returns the time that has passed since some fixed point. It must never
// go back, and it must count time during which the machine was suspended.
type Clock func() time.Duration

// Settings are an engine's options. Drivers read them; users set them with a [lock.Option] each.
type Settings struct {
	lock.Options
	Namespace string   // of [locktrace.Backend]; a driver sets it
	Servers   []string // where the nodes are, without who connects; a driver sets it; empty: at their names
	Clock     Clock
	Random    func(n int64) int64

	nodes   int
	closers []func() error
}

// NewSettings applies opts to the defaults for a set of that many nodes. It fails with
// [lock.ErrInvalidOption], with [lock.ErrInvalidTTL], or with [lock.ErrInvalidNode] if there
// are no nodes or more than [lock.MaxNodes].
func NewSettings(nodes int, opts ...lock.Option) (*Settings, error) {
	if slices.Contains(opts, nil) {
		return nil, fmt.Errorf("%w: nil Option", lock.ErrInvalidOption)
	}
	s := &Settings{Options: lock.NewOptions(opts...), Random: rand.Int64N, nodes: nodes}
	s.Driver = slices.DeleteFunc(s.Driver, func(o lock.Option) bool {
		own, ok := o.(option)
		if ok {
			own.set(s)
		}
		return ok
	})
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.Clock == nil {
		s.Clock = clock.New()
	}
	return s, nil
}

// option is an Option of the engine's own.
type option struct {
	lock.DriverOption
	set func(*Settings)
}

// WithClock replaces the clock that measures validity, for tests. The function returns the time
// since some fixed point. It must never go back, and it must count the time during which the
// machine is suspended.
func WithClock(clock func() time.Duration) lock.Option {
	return option{set: func(s *Settings) { s.Clock = clock }}
}

// WithRandom replaces the source of jitter, for tests. The function returns a number in
// [0, n) and must be safe for concurrent use.
func WithRandom(random func(n int64) int64) lock.Option {
	return option{set: func(s *Settings) { s.Random = random }}
}

// OnClose makes an Option by which the engine's Close also calls f: see [Settings.OnClose].
func OnClose(f func() error) lock.Option { return option{set: func(s *Settings) { s.OnClose(f) }} }

// ForDriver gives each option of a driver to apply, which reports whether it knows the option. ForDriver fails with
// [lock.ErrInvalidOption] at the first that it does not know: it belongs to another driver.
func (s *Settings) ForDriver(apply func(lock.Option) bool) error {
	for _, opt := range s.Driver {
		if !apply(opt) {
			return notOfDriver(opt)
		}
	}
	s.Driver = nil
	return nil
}

func notOfDriver(opt lock.Option) error {
	return fmt.Errorf("%w: option %T belongs to another driver", lock.ErrInvalidOption, opt)
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
	case !text.Shows(s.Backend + " " + strings.Join(s.NodeNames, " ")):
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
	switch {
	case s.Acquire == lock.NewAcquireOptions():
		return nil
	case s.Acquire.Kind != "":
		return fmt.Errorf("%w: WithDefaults: a construct, or a mode, is for single calls", lock.ErrInvalidOption)
	}
	if err := s.validateAcquire(s.Acquire); err != nil {
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
	case o.MinHold < 0 || o.MinHold > min(s.MaxTTL, o.MaxHold):
		return fmt.Errorf("%w: MinHold(%v) is negative, above MaxHold %v or above MaxTTL %v: lower it, or raise WithMaxTTL in "+
			"every process using these nodes", lock.ErrInvalidOption, o.MinHold, o.MaxHold, s.MaxTTL)
	case o.MinHold > 0 && o.Mode == lock.ModeRead:
		return fmt.Errorf("%w: MinHold is not for readers", lock.ErrInvalidOption)
	case !o.Kind.Valid():
		return fmt.Errorf("%w: there is no kind %q", lock.ErrInvalidOption, o.Kind)
	case o.Mode < lock.ModeExclusive || o.Mode > lock.ModeWrite:
		return fmt.Errorf("%w: InMode(%d): there is no such mode", lock.ErrInvalidOption, o.Mode)
	case misnamed(o):
		return fmt.Errorf("%w: kind %q: use InMode, or Slots with 1 to 100", lock.ErrInvalidOption, o.Kind)
	case o.HoldReason != "":
		return records.ValidateReason(o.HoldReason)
	}
	return nil
}

// misnamed reports whether the kind would mislead views: who reads, writes or has a permit is not of another kind, and
// nobody else is of that kind.
func misnamed(o lock.AcquireOptions) bool {
	return (o.Kind == lock.KindRead) != (o.Mode == lock.ModeRead) || (o.Kind == lock.KindWrite) != (o.Mode == lock.ModeWrite) ||
		(o.Kind == lock.KindSemaphore) != (o.Slots != 0)
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
