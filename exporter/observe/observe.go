// Package observe makes an observed lock in one call: metrics, spans, log records, the live page and readiness.
//
//	locks, err := observe.Redis(urls, observe.Config{Instance: "orders-1", Logger: logger})
//	...
//	locks.Mount(mux) // /metrics, /healthz, /readyz and /debug/locks on your own server
//	defer locks.Shutdown(ctx)
//	...
//	err = lock.Do(ctx, locks, "order:1001", work)
//
// It combines packages instrument, exporter/live and exporter. Pass their options in the Config, or use them directly
// if you need more.
package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/redislog"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/outage"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Config configures observation. Its zero value suits a program with global OpenTelemetry providers and one registry
// for these metrics.
type Config struct {
	// Instance names this process in the locks it holds and on the page. Leave it empty if lock.WithInstance sets the
	// name, or for the default, host/pid.
	Instance string
	// Registry is where the metrics are, and what /metrics serves. nil makes one, with the metrics
	// of the process and the Go runtime.
	Registry *prometheus.Registry
	// TracerProvider is where spans go. nil means the global one.
	TracerProvider trace.TracerProvider
	// Logger logs problems. nil logs nothing. Redis also attaches it to go-redis, which has one logger for the whole
	// process: see redislog.Attach. Without a Logger, go-redis keeps its own.
	Logger *slog.Logger
	// KeepRedisLogger makes Redis leave go-redis's logger alone. Set it if the program calls redis.SetLogger itself,
	// which Redis cannot detect.
	KeepRedisLogger bool
	// OwnPort says that package server serves the Exporter, which is then not ready before the server listens.
	OwnPort bool

	// Further options. They come after those made from the fields above.
	Instrument []instrument.Option
	Board      []live.Option
	Exporter   []exporter.Option
}

// Locks is an observed Locker. Its zero value is not usable: see Redis and New. It is safe for concurrent use.
type Locks struct {
	lock.Locker // the observed one

	// Exporter serves the metrics, the page and the checks. Registry has the metrics.
	Exporter *exporter.Exporter
	Registry *prometheus.Registry

	measured *instrument.Locker
	close    func() error // closes what Redis opened; nil if nothing
}

// Redis locks on the Redis nodes of urls, as redlock.Open does, and observes that lock. opts are options of lock and
// redlock. If cfg names an instance, the lock gets that name. After an error nothing stays open.
//
// The first Redis with a Logger in a process replaces the logger of go-redis, which all its clients share and which
// writes to stderr. Until Shutdown, its lines go to cfg.Logger, at most one of a kind in ten seconds. Call Redis, or
// redislog.Attach, before other clients of go-redis work.
func Redis(urls []string, cfg Config, opts ...lock.Option) (*Locks, error) {
	if cfg.Instance != "" {
		opts = append(opts[:len(opts):len(opts)], lock.WithInstance(cfg.Instance))
	}
	detach := func() {}
	if cfg.Logger != nil && !cfg.KeepRedisLogger {
		detach = redislog.Attach(cfg.Logger)
	}
	engine, err := redlock.Open(urls, opts...)
	if err != nil {
		detach()
		return nil, err
	}
	// Lines that go-redis logs while it closes go to the Logger, too.
	closeAll := func() error {
		defer detach()
		return engine.Close()
	}
	cfg.Instance = engine.Instance()
	l, err := New(engine, cfg)
	if err != nil {
		return nil, errors.Join(err, closeAll())
	}
	l.close = closeAll
	return l, nil
}

// New observes next. The caller closes next, after Shutdown. If next has a method Instance, as engine.Engine does,
// that is the instance. It returns instrument.ErrInvalidOption for a nil next and for a cfg with another instance,
// and the errors of the combined packages: ErrInvalidOption of instrument, live or exporter, or the registry's error.
//
// New leaves go-redis's logger alone, because clients may already be at work. A program that locks on Redis calls
// redislog.Attach before it makes them.
func New(next lock.Locker, cfg Config) (*Locks, error) {
	if next == nil {
		return nil, fmt.Errorf("%w: the Locker to observe is nil", instrument.ErrInvalidOption)
	}
	if err := cfg.nameAfter(next); err != nil {
		return nil, err
	}
	if cfg.Registry == nil {
		cfg.Registry = prometheus.NewRegistry()
		cfg.Registry.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	board, err := live.New(cfg.board()...)
	if err != nil {
		return nil, err
	}
	shown, err := board.Wrap(next)
	if err != nil {
		return nil, err
	}
	measured, err := instrument.Wrap(shown, append([]instrument.Option{
		instrument.WithRegisterer(cfg.Registry),
		instrument.WithTracerProvider(cfg.TracerProvider),
		instrument.WithLogger(cfg.Logger),
	}, cfg.Instrument...)...)
	if err != nil {
		return nil, err
	}
	exp, err := exporter.New(cfg.exporter(next, board)...)
	if err != nil {
		return nil, err
	}
	return &Locks{Locker: measured, Exporter: exp, Registry: cfg.Registry, measured: measured}, nil
}

// Unprotected is the Report of outage.Wrap for these locks: see instrument.Locker.Unprotected.
func (l *Locks) Unprotected(ctx context.Context, r outage.Run) { l.measured.Unprotected(ctx, r) }

// nameAfter takes over the instance of the locks.
func (c *Config) nameAfter(next lock.Locker) error {
	named, ok := next.(interface{ Instance() string })
	if !ok {
		return nil
	}
	name := named.Instance()
	if c.Instance != "" && c.Instance != name {
		return fmt.Errorf(
			"%w: Config.Instance is %q, the Locker's instance is %q: leave it empty, or make both the same",
			instrument.ErrInvalidOption, c.Instance, name)
	}
	c.Instance = name
	return nil
}

func (c *Config) board() (opts []live.Option) {
	if c.Instance != "" {
		opts = append(opts, live.WithInstance(c.Instance))
	}
	return append(opts, c.Board...)
}

// exporter checks readiness on the bare Locker, so that checks do not count as traffic.
func (c *Config) exporter(bare lock.Locker, board *live.Board) []exporter.Option {
	opts := []exporter.Option{
		exporter.WithGatherer(c.Registry),
		exporter.WithState(board),
		exporter.WithReadyCheck("locks", exporter.LockCheck(bare, c.readyLock())),
		exporter.WithLogger(c.Logger),
	}
	if source, ok := bare.(exporter.ConnectionSource); ok {
		opts = append(opts, exporter.WithConnections(source))
	}
	if !c.OwnPort {
		opts = append(opts, exporter.WithOwnServer())
	}
	return append(opts, c.Exporter...)
}

// readyLock is a lock name unique to this process. Lock names have no braces.
func (c *Config) readyLock() string {
	instance := c.Instance
	if instance == "" {
		host, _ := os.Hostname() // without it, processes with one pid share a lock: a held one proves as much
		instance = host + "/" + strconv.Itoa(os.Getpid())
	}
	name := "ready:" + strings.NewReplacer("{", "(", "}", ")").Replace(instance)
	return name[:min(len(name), lock.MaxResourceLength)]
}

// Mount adds /metrics, /healthz, /readyz and /debug/locks to your mux: see exporter.Exporter.Mount.
func (l *Locks) Mount(mux *http.ServeMux) { l.Exporter.Mount(mux) }

// ServeHTTP serves the Exporter: see exporter.Exporter.ServeHTTP.
func (l *Locks) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.Exporter.ServeHTTP(w, r) }

// Shutdown makes /readyz answer 503, ends the streams of the page, closes what Redis opened, which ends its leases,
// and waits until all log records are written. ctx bounds that wait. If ctx ends first, Shutdown returns its error,
// but has closed everything. Shut down your server after it, and your tracer provider last.
func (l *Locks) Shutdown(ctx context.Context) error {
	l.Exporter.Drain()
	var err error
	if l.close != nil {
		err = l.close()
	}
	return errors.Join(err, l.measured.Flush(ctx))
}
