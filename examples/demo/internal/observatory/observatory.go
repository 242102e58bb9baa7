// Package observatory is all that watches the services of the demo.
package observatory

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/examples/demo/internal/workload"
	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/otlp"
	"github.com/lockscope/lockscope/exporter/server"
	"github.com/lockscope/lockscope/exporter/zaplog"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/scanner"
)

// Config says what to watch.
type Config struct {
	Length   time.Duration // of the run
	LogLevel string
	URLs     []string // of the servers that the scanner sweeps; none: no scanner
	Prefix   string   // of their locks
}

// Observatory is all that watches the services: the same as in production, but one
// for all of them, as they are in one process.
type Observatory struct {
	logger   *slog.Logger
	spans    trace.TracerProvider // OTEL_EXPORTER_OTLP_ENDPOINT says where to; nowhere without it
	registry *prometheus.Registry
	Board    *live.Board
	scanner  *scanner.Scanner // nil where there is nothing that it could sweep
	server   *server.Server

	ends []func() error // what close does, last first
}

// Open starts nothing but what watches. On error nothing is left of it.
func Open(ctx context.Context, cfg Config, logs io.Writer) (o *Observatory, err error) {
	o = new(Observatory)
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
		}
	}()
	var flush func() error
	if o.logger, flush, err = zaplog.New(logs, zaplog.WithFormat(zaplog.FormatConsole),
		zaplog.WithLevel(cfg.LogLevel)); err != nil {
		return o, err
	}
	o.ends = append(o.ends, flush)
	if err := o.trace(ctx); err != nil {
		return o, err
	}
	o.registry = prometheus.NewRegistry()
	o.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.Board, err = live.New(live.WithInstance("demo")); err != nil {
		return o, err
	}
	if err := o.scan(cfg); err != nil {
		return o, err
	}
	opts := []exporter.Option{exporter.WithGatherer(o.registry), exporter.WithState(o.Board),
		exporter.WithLogger(o.logger)}
	if o.scanner != nil {
		opts = append(opts, exporter.WithScanner(o.scanner))
	}
	exp, err := exporter.New(opts...)
	if err != nil {
		return o, err
	}
	o.server, err = server.New(exp, server.WithLogger(o.logger))
	return o, err
}

func (o *Observatory) trace(ctx context.Context) error {
	spans, stop, err := otlp.NewTracerProvider(ctx, "lockscope-demo", otlp.WithLogger(o.logger))
	if err != nil {
		return err
	}
	o.spans = spans
	o.ends = append(o.ends, func() error { return stop(context.WithoutCancel(ctx)) })
	return nil
}

// scan sweeps several times a run, so that it finds planted leaks soon.
func (o *Observatory) scan(cfg Config) (err error) {
	if len(cfg.URLs) == 0 {
		return nil
	}
	every := min(cfg.Length/20, 15*time.Second)
	o.scanner, err = scanner.Open(cfg.URLs, scanner.WithPrefix(cfg.Prefix), scanner.WithInterval(every),
		scanner.WithConfirmAfter(every/2), scanner.WithDeadline(10*every), scanner.WithLogger(o.logger))
	if err != nil {
		return err
	}
	o.ends = append(o.ends, o.scanner.Close)
	return nil
}

// process is the lock of one service, measured.
type process struct {
	lock.Locker
	close func() error
}

func (p *process) Close() error { return p.close() }

// Process makes a lock, on connections of its own, as a process would have it.
func (o *Observatory) Process(locker *engine.Engine, instance string) (workload.Process, error) {
	measured, err := o.measure(locker, instance)
	if err != nil {
		return nil, errors.Join(err, locker.Close())
	}
	return &process{Locker: measured, close: func() error {
		return errors.Join(locker.Close(), measured.Flush(context.Background()))
	}}, nil
}

// measure makes what a lock does show on the page, in metrics, spans and logs.
func (o *Observatory) measure(locker lock.Locker, instance string) (*instrument.Locker, error) {
	shown, err := o.Board.Wrap(locker, live.WithLockerInstance(instance))
	if err != nil {
		return nil, err
	}
	return instrument.Wrap(shown, instrument.WithRegisterer(o.registry),
		instrument.WithTracerProvider(o.spans), instrument.WithLogger(o.logger.With("instance", instance)))
}

// Start serves and sweeps until ctx ends; wait returns the error of that. url is the
// address of the page and the metrics.
func (o *Observatory) Start(ctx context.Context, listen string) (url string, wait func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- o.server.Serve(ctx, server.Web{
			Addresses: []string{listen},
			Ready:     func(urls []string) { ready <- urls[0] },
		})
	}()
	select {
	case url = <-ready:
	case err = <-done:
		cancel()
		return "", nil, err
	}
	if err := o.startScanner(); err != nil {
		cancel()
		return "", nil, errors.Join(err, <-done)
	}
	return url, func() error {
		cancel()
		o.stopScanner()
		return <-done
	}, nil
}

func (o *Observatory) startScanner() error {
	if o.scanner == nil {
		return nil
	}
	return o.scanner.Start()
}

func (o *Observatory) stopScanner() {
	if o.scanner != nil {
		o.scanner.Stop()
	}
}

// Leaks are the keys without a TTL that the scanner has found, on how many nodes.
func (o *Observatory) Leaks() map[string]int {
	found := make(map[string]int)
	if o.scanner == nil {
		return found
	}
	for _, f := range o.scanner.Snapshot().Last.Findings {
		if f.Class == inspect.NoTTL {
			found[f.Key]++
		}
	}
	return found
}

func (o *Observatory) Close() error {
	var errs []error
	for i := len(o.ends) - 1; i >= 0; i-- {
		errs = append(errs, o.ends[i]())
	}
	return errors.Join(errs...)
}
