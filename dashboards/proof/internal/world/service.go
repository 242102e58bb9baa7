package world

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

const shutdownLimit = 5 * time.Second

// service is a target of Prometheus: lockers that share a registry, and the loops that use them.
type service struct {
	url     string
	server  *http.Server
	stop    context.CancelFunc // ends its loops; its metrics remain
	loops   sync.WaitGroup
	serving sync.WaitGroup

	mu     sync.Mutex
	failed error // of the server
}

// startService serves metrics with exemplars and runs all loops at once until Close.
func (w *World) startService(registry *prometheus.Registry, loops ...func(context.Context)) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{url: "http://" + l.Addr().String()}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: askLimit}
	s.serving.Go(func() { s.listen(l) })
	s.do(loops...)
	w.services = append(w.services, s)
	w.ends = append(w.ends, s.close)
	return s, nil
}

func (s *service) listen(l net.Listener) {
	err := s.server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err
}

// do starts loops, which must end with their context.
func (s *service) do(loops ...func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	for _, loop := range loops {
		s.loops.Go(func() { loop(ctx) })
	}
}

// instead ends its loops, and starts others.
func (s *service) instead(loops ...func(context.Context)) {
	s.stop()
	s.loops.Wait()
	s.do(loops...)
}

func (s *service) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *service) close() error {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.server.Close())
	}
	s.loops.Wait()
	s.serving.Wait()
	return err
}

// locker returns a lock with its own connections, measured in the registry. Close closes it. Its nodes must have been
// vouched for.
func (w *World) locker(registry *prometheus.Registry, instance string, opts ...lock.Option) (lock.Locker, error) {
	l, err := redlock.Open(w.urls(), append(opts, lock.WithInstance(instance))...)
	if err != nil {
		return nil, err
	}
	return w.measure(registry, l)
}

// measure takes ownership of the engine.
func (w *World) measure(registry *prometheus.Registry, l *engine.Engine, opts ...instrument.Option) (*instrument.Locker, error) {
	w.ends = append(w.ends, l.Close)
	if w.cfg.Native {
		opts = append(opts, instrument.WithNativeHistograms())
	}
	measured, err := instrument.Wrap(l, append(opts, instrument.WithRegisterer(registry),
		instrument.WithLongWait(longWait),
		instrument.WithTracerProvider(trace.NewTracerProvider()))...) // sampled but not exported, for exemplars
	if err != nil {
		return nil, err
	}
	w.ends = append(w.ends, func() error { return measured.Flush(context.Background()) })
	return measured, nil
}
