//go:build linux

package worker

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
)

// views is what a service serves of its locks: /metrics and the live page. A nil one serves nothing.
type views struct {
	listener net.Listener
	server   *http.Server
	mux      *http.ServeMux
}

// listen takes a port; requests wait until serve.
func listen() (*views, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	return &views{listener: l, mux: mux, server: &http.Server{Handler: mux}}, nil
}

func (v *views) address() string {
	if v == nil {
		return ""
	}
	return v.listener.Addr().String()
}

// page is what the locks tell others of where to look.
func (v *views) page() string { return "http://" + v.address() + "/debug/locks" }

// serve observes next as package observe does, and answers requests from then on.
func (v *views) serve(next lock.Locker, registry *prometheus.Registry, logger *slog.Logger, opts []instrument.Option) (
	lock.Locker, func(context.Context) error, error,
) {
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	locks, err := observe.New(next, observe.Config{
		Registry: registry, TracerProvider: noop.NewTracerProvider(), Logger: logger, Instrument: opts,
	})
	if err != nil {
		return nil, nil, err
	}
	locks.Mount(v.mux)
	go func() { _ = v.server.Serve(v.listener) }() // it ends with close
	end := func(ctx context.Context) error { return errors.Join(locks.Shutdown(ctx), v.server.Close()) }
	return locks, end, nil
}

func (v *views) close() { _ = errors.Join(v.server.Close(), v.listener.Close()) }
