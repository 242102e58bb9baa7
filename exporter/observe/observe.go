// Package observe makes a lock that can be seen, in one call: metrics, spans, log records, the live
// page and readiness, wired as the pieces would be by hand.
//
//	locks, err := observe.Redis(urls, observe.Config{Instance: "orders-1", Logger: logger})
//	...
//	locks.Mount(mux) // /metrics, /healthz, /readyz and /debug/locks of the program's own server
//	defer locks.Shutdown(ctx)
//	...
//	err = lock.Do(ctx, locks, "order:1001", work)
//
// The pieces are packages instrument, exporter/live and exporter: whoever needs more of them passes
// their options in the Config, or does without this package.
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
	"github.com/lockscope/lockscope/lock/redlock"
)

// Config says how locks are observed. Its zero value is right for a program with global
// OpenTelemetry providers and one registry for what is here.
type Config struct {
	// Instance is what this process is called, in the locks it holds and on the page. It is named
	// once: leave it empty if lock.WithInstance says it, or for its default, host/pid.
	Instance string
	// Registry is where the metrics are, and what /metrics serves. nil makes one, with the metrics
	// of the process and the Go runtime.
	Registry *prometheus.Registry
	// TracerProvider is where spans go. nil is the global one.
	TracerProvider trace.TracerProvider
	// Logger is told what goes wrong. nil: nobody is. Redis attaches it to go-redis too, whose one
	// logger is the process': see redislog.Attach. Without a Logger, go-redis is left as it is.
	Logger *slog.Logger
	// KeepRedisLogger makes Redis leave go-redis's logger alone: set it where the program calls
	// redis.SetLogger by itself, which Redis cannot see.
	KeepRedisLogger bool
	// OwnPort says that package server serves the Exporter: it is then not ready before that listens.
	OwnPort bool

	// More of the pieces; these options come after those made of the fields above.
	Instrument []instrument.Option
	Board      []live.Option
	Exporter   []exporter.Option
}

// Locks is a Locker with everything that is known about it. Its zero value is not usable: see Redis
// and New. It is safe for concurrent use.
type Locks struct {
	lock.Locker // observed

	// Exporter serves what is known. Registry holds the metrics.
	Exporter *exporter.Exporter
	Registry *prometheus.Registry

	measured *instrument.Locker
	close    func() error // of what Redis has opened; nil if nothing
}

// Redis locks on the Redis nodes of urls, as redlock.Open does, and observes it. It takes options of
// lock and redlock; the instance is that of cfg if that names one. On error nothing is left open.
//
// The first Redis of a process with a Logger replaces the logger of go-redis, which all clients of the process share
// and which writes to stderr by itself: what it says then goes to cfg.Logger, at most one line of a kind in ten
// seconds, until Shutdown. Call Redis, or redislog.Attach, before other clients of go-redis work.
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
	// What go-redis says while it is being closed is told to the Logger, too.
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

// New observes next, which stays its caller's to close, after Shutdown. The instance is that of next,
// if it has a method Instance as engine.Engine does; a cfg that names another is refused with
// instrument.ErrInvalidOption. It also fails with the errors of the pieces: ErrInvalidOption of
// instrument, live or exporter, or the registry's.
//
// It leaves go-redis's logger alone, since clients may be at work by then. A program that locks on Redis
// calls redislog.Attach before it makes them.
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

// nameAfter gives what is shown the name that the locks have.
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

// exporter checks readiness on the bare Locker: a check is no traffic.
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

// readyLock is a lock of this process' own; a lock's name has no braces.
func (c *Config) readyLock() string {
	instance := c.Instance
	if instance == "" {
		host, _ := os.Hostname() // without one, processes with one pid share a lock: one that is held proves as much
		instance = host + "/" + strconv.Itoa(os.Getpid())
	}
	name := "ready:" + strings.NewReplacer("{", "(", "}", ")").Replace(instance)
	return name[:min(len(name), lock.MaxResourceLength)]
}

// Mount serves what is known on a mux of the program's own: see exporter.Exporter.Mount.
func (l *Locks) Mount(mux *http.ServeMux) { l.Exporter.Mount(mux) }

// ServeHTTP serves what is known: see exporter.Exporter.ServeHTTP.
func (l *Locks) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.Exporter.ServeHTTP(w, r) }

// Shutdown ends the streams of the page, makes /readyz say no, waits until the logger was told of
// everything, and closes what Redis has opened, which ends its leases. ctx bounds the waiting for
// the logger; its error is returned then, and everything is closed nevertheless. The program shuts
// its server down after it, and its tracer provider last.
func (l *Locks) Shutdown(ctx context.Context) error {
	l.Exporter.Drain()
	var err error
	if l.close != nil {
		err = l.close()
	}
	return errors.Join(err, l.measured.Flush(ctx))
}
