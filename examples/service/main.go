// Command service is an order service as you would write it: an HTTP API whose
// charges are guarded by a distributed lock, with everything that lockscope can tell
// about it. The wiring is in this file, the API in handlers.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockscope/lockscope/examples/internal/nodes"
	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/otlp"
	"github.com/lockscope/lockscope/exporter/server"
	"github.com/lockscope/lockscope/exporter/zaplog"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

func main() {
	redis.SetLogger(&logging.VoidLogger{}) // a node that is down is in lockscope's logs and metrics
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	cfg, err := parseFlags(os.Args[1:], os.Stdout)
	if err == nil {
		err = run(ctx, cfg, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}

// run is the service from its start to its end, which comes with ctx. What is
// deferred ends in the reverse order of its start: requests, locks, spans, logs.
func run(ctx context.Context, cfg config, logs io.Writer) (err error) {
	also := func(end func() error) { err = errors.Join(err, end()) }

	logger, flush, err := zaplog.New(logs, zaplog.WithLevel(cfg.logLevel), zaplog.WithFormat(cfg.logFormat))
	if err != nil {
		return err
	}
	defer also(flush)

	urls, options, stopNodes, err := redisNodes(ctx, cfg, logger)
	if err != nil {
		return err
	}
	defer also(stopNodes)

	// OTEL_EXPORTER_OTLP_ENDPOINT says where spans go; nowhere without it.
	spans, stopSpans, err := otlp.NewTracerProvider(ctx, "orders", otlp.WithLogger(logger))
	if err != nil {
		return err
	}
	defer also(func() error { return stopSpans(context.WithoutCancel(ctx)) })

	redlock, err := redlock.Open(urls, options...)
	if err != nil {
		return err
	}
	defer also(redlock.Close)

	board, err := live.New(live.WithInstance(cfg.instance))
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	shown, err := board.Wrap(redlock)
	if err != nil {
		return err
	}
	locker, err := instrument.Wrap(shown,
		instrument.WithRegisterer(registry),
		instrument.WithTracerProvider(spans),
		instrument.WithLogger(logger))
	if err != nil {
		return err
	}
	defer also(func() error { return locker.Flush(context.WithoutCancel(ctx)) })

	telemetry, err := exporter.New(
		exporter.WithGatherer(registry),
		exporter.WithState(board),
		exporter.WithReadyCheck("locks", canLock(redlock, cfg.instance)),
		exporter.WithLogger(logger))
	if err != nil {
		return err
	}
	api := &http.Server{
		Handler:           traced(spans, newAPI(locker, cfg.instance, newOrders(cfg.chargeTakes), logger)),
		ReadHeaderTimeout: 5 * time.Second, WriteTimeout: maxWait + 30*time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	return serve(ctx, cfg, api, telemetry, logger)
}

// redisNodes returns the URLs of the Redis nodes that were given, or of some that it
// starts.
func redisNodes(ctx context.Context, cfg config, logger *slog.Logger) ([]string, []lock.Option, func() error, error) {
	options := []lock.Option{lock.WithInstance(cfg.instance), lock.WithNodeTimeout(cfg.nodeTimeout)}
	if len(cfg.redis) > 0 {
		return cfg.redis, options, func() error { return nil }, nil
	}
	set, err := nodes.Start(ctx, cfg.nodes)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("start Redis: %w", err)
	}
	for _, line := range set.Describe() {
		logger.Info(line)
	}
	return set.URLs(), append(options, set.Options()...), set.Stop, nil
}

// canLock takes a lock of its own, without the decorators: a check is no traffic.
func canLock(l lock.Locker, instance string) func(context.Context) error {
	return func(ctx context.Context) error {
		return lock.Do(ctx, l, "ready:"+instance, func(context.Context, lock.Lease) error { return nil }, lock.NoWait())
	}
}

// serve answers until ctx ends. Then it says on /readyz that no more requests are
// wanted, finishes those under way, which gives their locks back, and stops.
func serve(ctx context.Context, cfg config, api *http.Server, telemetry *exporter.Exporter, logger *slog.Logger) error {
	metrics, err := server.New(telemetry, server.WithLogger(logger))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.listen)
	if err != nil {
		return fmt.Errorf("%w (choose another address with -listen)", err)
	}
	url := "http://" + listener.Addr().String()
	web := cfg.web
	web.Ready = func(urls []string) {
		logger.Info("serving", "api", url, "metrics", urls[0]+"/metrics", "locks", urls[0]+"/debug/locks")
		cfg.ready(url, urls[0])
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	apiDone, telemetryDone := make(chan error, 1), make(chan error, 1)
	go func() { telemetryDone <- metrics.Serve(running, web) }()
	go func() { apiDone <- api.Serve(listener) }()
	select {
	case <-ctx.Done():
	case err = <-telemetryDone:
		telemetryDone <- nil
	case err = <-apiDone:
		apiDone <- http.ErrServerClosed
	}

	telemetry.Drain()
	logger.Info("shutting down")
	grace, cancel := context.WithTimeout(running, maxWait+10*time.Second)
	defer cancel()
	err = errors.Join(err, api.Shutdown(grace))
	stop()
	if closed := <-apiDone; !errors.Is(closed, http.ErrServerClosed) {
		err = errors.Join(err, closed)
	}
	return errors.Join(err, <-telemetryDone)
}
