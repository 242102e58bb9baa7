package server

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lockscope/lockscope/exporter"
)

// defaultShutdownTimeout is well below the 30 s that an orchestrator waits before it kills.
const defaultShutdownTimeout = 10 * time.Second

// ErrInvalidOption reports an unusable option value. New wraps it.
var ErrInvalidOption = errors.New("server: invalid option")

type config struct {
	logger          *slog.Logger
	drainDelay      time.Duration
	shutdownTimeout time.Duration
}

// Option configures New.
type Option func(*config)

// WithLogger sets the logger for addresses, failed connections and the shutdown. Without it, and with nil, nothing is
// logged.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithDrainDelay makes Serve go on answering for d after its context has ended, while /readyz answers 503, so that
// load balancers can choose other processes. The default is 0. It must not be negative.
func WithDrainDelay(d time.Duration) Option { return func(c *config) { c.drainDelay = d } }

// WithShutdownTimeout bounds how long Serve waits for running requests when it ends, instead of 10 seconds. It must
// be positive.
func WithShutdownTimeout(d time.Duration) Option {
	return func(c *config) { c.shutdownTimeout = d }
}

func newConfig(e *exporter.Exporter, opts []Option) (config, error) {
	c := config{shutdownTimeout: defaultShutdownTimeout}
	if e == nil {
		return c, fmt.Errorf("%w: the Exporter to serve is nil", ErrInvalidOption)
	}
	for _, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("%w: nil Option", ErrInvalidOption)
		}
		opt(&c)
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.shutdownTimeout <= 0:
		return c, fmt.Errorf("%w: WithShutdownTimeout(%v): must be positive", ErrInvalidOption, c.shutdownTimeout)
	case c.drainDelay < 0:
		return c, fmt.Errorf("%w: WithDrainDelay(%v): must not be negative", ErrInvalidOption, c.drainDelay)
	}
	return c, nil
}
