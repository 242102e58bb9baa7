package live

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Defaults of New.
const (
	defaultWindow  = 5 * time.Minute
	defaultSlowest = 10
	// DefaultMaxShown is how many held locks, and how many waiters, a State has.
	DefaultMaxShown    = 200
	defaultProfileRate = time.Millisecond
	defaultTimelines   = 32
)

// Defaults of WithObjectives.
const (
	DefaultWarning = time.Second
	DefaultAlarm   = 5 * time.Second
)

// The largest values of options: they keep a Board within a few megabytes.
const (
	maxWindow    = time.Hour
	maxSlowest   = 100
	maxShown     = 10_000
	maxTimelines = 256
)

// ErrInvalidOption reports an unusable option value. New wraps it.
var ErrInvalidOption = errors.New("live: invalid option")

type config struct {
	instance string
	window   time.Duration
	slowest  int
	maxShown int
	warning  time.Duration
	alarm    time.Duration
	traceURL string

	profileRate time.Duration
	timelines   int
}

// Option configures New.
type Option func(*config)

// WithInstance names this process. Use the same name as for lock.WithInstance: a waiter whose holder has this name is
// blocked by this process. The default is the same, host/pid. Characters that a lock cannot store are replaced.
func WithInstance(name string) Option { return func(c *config) { c.instance = name } }

// WithWindow sets how far back the wait points of a State go, instead of 5 minutes: from 1 second to 1 hour.
// Fractions of a second are dropped.
func WithWindow(d time.Duration) Option { return func(c *config) { c.window = d } }

// WithSlowest sets how many of the slowest acquisitions of the last 5 minutes a State has, instead of 10: at most
// 100. Zero keeps none and records no steps: timelines then have calls and leases only.
func WithSlowest(n int) Option { return func(c *config) { c.slowest = n } }

// WithMaxShown sets how many held locks, and how many waiters, a State lists at most, instead of 200: from 1 to
// 10,000. Further ones count as omitted. For one resource, at most 50 waiters or a quarter of that number are listed.
func WithMaxShown(n int) Option { return func(c *config) { c.maxShown = n } }

// WithTimelines sets how many contended resources have a timeline at a time, instead of 32: at most 256. Zero keeps
// none. See [Board.WriteTrace].
func WithTimelines(n int) Option { return func(c *config) { c.timelines = n } }

// WithObjectives sets the longest waits without a warning and without an alarm, instead of 1 and 5 seconds. Use those
// of your SLO. Both must be positive, and the alarm must not be below the warning.
func WithObjectives(warning, alarm time.Duration) Option {
	return func(c *config) { c.warning, c.alarm = warning, alarm }
}

// WithTraceURL makes trace ids links to url, with its one {traceID} replaced, as in
// "https://tempo.example.com/trace/{traceID}". It must be http or https, with a fixed host and without credentials.
func WithTraceURL(url string) Option { return func(c *config) { c.traceURL = url } }

// WithProfileRate sets how a Profile by waiter samples stacks, instead of 1 ms, as runtime.SetBlockProfileRate does:
// each wait that takes d or longer is recorded, and a shorter one with the probability of its length over d. Recorded
// waits stand for the others, so sums stay right. Zero turns the Profile by waiter off. d must not be negative.
func WithProfileRate(d time.Duration) Option { return func(c *config) { c.profileRate = d } }

// WrapOption configures one Locker of a Board.
type WrapOption func(*wrapping)

type wrapping struct{ instance string }

// WithLockerInstance names the holders and waiters of this Locker, instead of the Board's instance, for a process
// with several names. An empty name makes Wrap fail.
func WithLockerInstance(name string) WrapOption { return func(w *wrapping) { w.instance = name } }

func newConfig(opts []Option) (config, error) {
	c := config{
		instance: defaultInstance(), window: defaultWindow, slowest: defaultSlowest, maxShown: DefaultMaxShown,
		warning: DefaultWarning, alarm: DefaultAlarm, profileRate: defaultProfileRate, timelines: defaultTimelines,
	}
	for _, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(&c)
	}
	switch {
	case c.instance == "":
		return c, fmt.Errorf("%w: WithInstance: must not be empty", ErrInvalidOption)
	case c.window < time.Second || c.window > maxWindow:
		return c, fmt.Errorf("%w: WithWindow(%v): must be between %v and %v",
			ErrInvalidOption, c.window, time.Second, maxWindow)
	case c.slowest < 0 || c.slowest > maxSlowest:
		return c, fmt.Errorf("%w: WithSlowest(%d): must be between 0 and %d", ErrInvalidOption, c.slowest, maxSlowest)
	case c.maxShown < 1 || c.maxShown > maxShown:
		return c, fmt.Errorf("%w: WithMaxShown(%d): must be between 1 and %d", ErrInvalidOption, c.maxShown, maxShown)
	case c.timelines < 0 || c.timelines > maxTimelines:
		return c, fmt.Errorf("%w: WithTimelines(%d): must be between 0 and %d",
			ErrInvalidOption, c.timelines, maxTimelines)
	case c.warning <= 0 || c.alarm < c.warning:
		return c, fmt.Errorf("%w: WithObjectives(%v, %v): must be positive, with the alarm not below the warning",
			ErrInvalidOption, c.warning, c.alarm)
	case c.profileRate < 0:
		return c, fmt.Errorf("%w: WithProfileRate(%v): must not be negative", ErrInvalidOption, c.profileRate)
	case c.traceURL != "" && !text.ValidTraceURL(c.traceURL):
		return c, fmt.Errorf("%w: WithTraceURL: use an http or https URL with a fixed host, "+
			"one {traceID} after the host and no credentials", ErrInvalidOption)
	}
	c.instance = storedName(c.instance)
	return c, nil
}

// storedName is the name as a lock's value stores it.
func storedName(name string) string {
	holder, err := records.ParseHolder(strings.ReplaceAll(name, "|", "_") + "|0|")
	if err != nil {
		return name
	}
	return holder.Instance
}

// defaultInstance is the default of lock.WithInstance.
func defaultInstance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return host + "/" + strconv.Itoa(os.Getpid())
}
