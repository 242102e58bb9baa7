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

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/exporter/otlp"
	"github.com/lockscope/lockscope/exporter/server"
	"github.com/lockscope/lockscope/exporter/zaplog"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

func main() {
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

	// OTEL_EXPORTER_OTLP_ENDPOINT says where spans go; nowhere without it.
	spans, stopSpans, err := otlp.NewTracerProvider(ctx, "orders", otlp.WithLogger(logger))
	if err != nil {
		return err
	}
	defer also(func() error { return stopSpans(context.WithoutCancel(ctx)) })

	locks, closeLocks, err := newLocks(cfg, observe.Config{
		TracerProvider: spans, Logger: logger, OwnPort: true,
		Exporter: []exporter.Option{exporter.WithFleetURL(cfg.fleetURL)},
	})
	if err != nil {
		return err
	}
	defer also(closeLocks)
	defer also(func() error { return locks.Shutdown(context.WithoutCancel(ctx)) })

	api := &http.Server{
		Handler:           traced(spans, newAPI(locks, newOrders(cfg.chargeTakes), logger)),
		ReadHeaderTimeout: 5 * time.Second, WriteTimeout: maxWait + 30*time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	return serve(ctx, cfg, api, locks.Exporter, logger)
}

// newLocks locks on the Redis nodes that were given or, to try it, in the memory of this process.
func newLocks(cfg config, seen observe.Config) (locks *observe.Locks, closeLocks func() error, err error) {
	name := lock.WithInstance(cfg.instance)
	if len(cfg.redis) > 0 {
		locks, err = observe.Redis(cfg.redis, seen, name, lock.WithNodeTimeout(cfg.nodeTimeout))
		return locks, func() error { return nil }, err // Shutdown closes what Redis has opened
	}
	seen.Logger.Warn("no Redis was given: locks are kept in memory, and nobody else sees them")
	inMemory, err := memlock.New(memlock.NewNodes(cfg.nodes), name)
	if err != nil {
		return nil, nil, err
	}
	if locks, err = observe.New(inMemory, seen); err != nil {
		return nil, nil, errors.Join(err, inMemory.Close())
	}
	return locks, inMemory.Close, nil
}

// serve answers until ctx ends. Then /readyz fails, so that no new requests come, and
// serve finishes those under way, which releases their locks.
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
