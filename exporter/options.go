package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// Defaults of New.
const (
	// defaultCheckTimeout bounds each readiness check; a kubelet gives up after a second.
	defaultCheckTimeout = 800 * time.Millisecond
	// defaultScrapeTimeout is Prometheus' own default.
	defaultScrapeTimeout = 10 * time.Second
)

// ErrInvalidOption reports an unusable option value. New wraps it.
var ErrInvalidOption = errors.New("exporter: invalid option")

// StateSource reports the locks of a process. It must be safe for concurrent use. live.Board is one.
type StateSource interface {
	State(ctx context.Context) state.State
}

type config struct {
	gatherer      prometheus.Gatherer
	state         StateSource
	scanner       Snapshotter
	scanOptions   []ScanOption
	connections   []ConnectionSource
	waits         WaitSource
	reload        ReloadSource
	fleet         http.Handler
	fleetURL      string
	checks        []*check
	logger        *slog.Logger
	ownServer     bool
	checkTimeout  time.Duration
	scrapeTimeout time.Duration
}

// Option configures New.
type Option func(*config)

// WithGatherer sets the source of /metrics: the registry given to instrument.WithRegisterer. The Exporter registers
// nothing there. Without this option, and with nil, /metrics has the Exporter's own metrics and those of the process
// and the Go runtime.
func WithGatherer(g prometheus.Gatherer) Option { return func(c *config) { c.gatherer = g } }

// WithState serves /debug/locks from s: the live.Board around the process's Locker. If s has the Board's method
// Profile, it also serves /debug/locks/profile. nil is ignored.
func WithState(s StateSource) Option { return func(c *config) { c.state = s } }

// WithScanner adds the metrics of s to /metrics; see NewScanCollector. nil is ignored.
func WithScanner(s Snapshotter, opts ...ScanOption) Option {
	return func(c *config) { c.scanner, c.scanOptions = s, opts }
}

// WithConnections adds the metrics of the connections of engines to /metrics; see NewConnectionCollector. Sources of
// several uses add up. nil is ignored.
func WithConnections(sources ...ConnectionSource) Option {
	return func(c *config) { c.connections = append(c.connections, sources...) }
}

// WithWaits adds metrics of waiting callers in all processes to /metrics. nil is ignored.
func WithWaits(s WaitSource) Option { return func(c *config) { c.waits = s } }

// WithReload adds the result of configuration reloads to /metrics. nil is ignored.
func WithReload(s ReloadSource) Option { return func(c *config) { c.reload = s } }

// WithFleet serves /debug/locks/fleet: what one process has gathered from the pages of many. h answers with JSON;
// browsers get a page that shows it. h receives GET and HEAD requests only. nil is ignored.
func WithFleet(h http.Handler) Option { return func(c *config) { c.fleet = h } }

// WithFleetURL makes /debug/locks link to the page of all processes, which another process serves: that of "lockscope
// serve --pages". It must be an http or https URL without credentials.
func WithFleetURL(address string) Option { return func(c *config) { c.fleetURL = address } }

// WithReadyCheck makes /readyz depend on fn. Every request calls fn, but at most one call runs at a time: concurrent
// requests share its result. The check timeout ends ctx, and fn should return then. Its error is shown to every
// client.
func WithReadyCheck(name string, fn func(ctx context.Context) error) Option {
	return func(c *config) { c.checks = append(c.checks, &check{name: name, fn: fn}) }
}

// WithLogger sets the logger for failed scrapes. Without it, and with nil, nothing is logged.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithOwnServer declares that you serve the Exporter as a handler, without package server: /readyz then depends on
// the checks alone, until Drain is called.
func WithOwnServer() Option { return func(c *config) { c.ownServer = true } }

// WithCheckTimeout bounds each readiness check, instead of 800 ms. It must be positive.
func WithCheckTimeout(d time.Duration) Option { return func(c *config) { c.checkTimeout = d } }

// WithScrapeTimeout bounds the gathering of metrics for one request, instead of 10 seconds. After it the
// answer is status 503. It must be positive.
func WithScrapeTimeout(d time.Duration) Option { return func(c *config) { c.scrapeTimeout = d } }

func newConfig(opts []Option) (config, error) {
	c := config{checkTimeout: defaultCheckTimeout, scrapeTimeout: defaultScrapeTimeout}
	for _, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(&c)
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	if err := c.validate(); err != nil {
		return c, fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	return c, nil
}

func (c *config) validate() error {
	for name, v := range map[string]any{
		"WithGatherer": c.gatherer, "WithState": c.state, "WithScanner": c.scanner,
		"WithWaits": c.waits, "WithReload": c.reload, "WithFleet": c.fleet,
	} {
		if isNilPointer(v) {
			return fmt.Errorf("%s: a nil %T", name, v)
		}
	}
	for name, d := range map[string]time.Duration{
		"WithCheckTimeout": c.checkTimeout, "WithScrapeTimeout": c.scrapeTimeout,
	} {
		if d <= 0 {
			return fmt.Errorf("%s(%v): must be positive", name, d)
		}
	}
	if !isWebURL(c.fleetURL) {
		return errors.New("WithFleetURL: use an http or https URL without credentials")
	}
	return c.validateChecks()
}

// isWebURL also accepts an option that was not used.
func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return text == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

func (c *config) validateChecks() error {
	seen := make(map[string]bool)
	for _, k := range c.checks {
		switch {
		case k.name == "" || oneLine(k.name) != k.name:
			return fmt.Errorf("WithReadyCheck(%q): use one printable line as the name", k.name)
		case k.fn == nil:
			return fmt.Errorf("WithReadyCheck(%q): nil function", k.name)
		case seen[k.name]:
			return fmt.Errorf("WithReadyCheck(%q): duplicate name", k.name)
		}
		seen[k.name] = true
	}
	return nil
}
