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
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Resource is the label of the lock around which everything goes wrong that can, as
// the metrics have it.
const Resource = "invoice:*"

const (
	invoice = "invoice:2001"
	closing = "month-end" // held for as long as possible

	billingTTL = time.Second
	longWait   = 500 * time.Millisecond

	shutdownLimit = 5 * time.Second
)

// billing is a service in trouble: its leases are deleted, its callers lose patience
// and its work takes too long. It locks on the demo's nodes and is scraped.
type billing struct {
	url    string
	first  lock.Locker
	second lock.Locker
	admins []*redis.Client

	stop   context.CancelFunc
	server *http.Server
	loops  sync.WaitGroup

	mu     sync.Mutex
	failed error // of the server
}

func (w *World) startBilling(context.Context) error {
	b := &billing{}
	registry := prometheus.NewRegistry()
	spans := trace.NewTracerProvider() // sampled and sent nowhere: for exemplars
	opts := []instrument.Option{
		instrument.WithRegisterer(registry), instrument.WithTracerProvider(spans), instrument.WithLongWait(longWait),
	}
	var err error
	var pools [2]exporter.ConnectionSource
	if b.first, pools[0], err = w.locker("billing-1", opts); err != nil {
		return err
	}
	if b.second, pools[1], err = w.locker("billing-2", opts); err != nil {
		return err
	}
	if err := registry.Register(exporter.NewConnectionCollector(pools[:]...)); err != nil {
		return err
	}
	for _, n := range w.nodes {
		c := adminOf(n)
		w.ends = append(w.ends, c.Close)
		b.admins = append(b.admins, c)
	}
	if err := b.serve(registry); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	b.loops.Go(func() { b.suffer(ctx) })
	b.loops.Go(func() { b.closeMonth(ctx) })
	w.ends = append(w.ends, b.close)
	w.bill = b
	w.cfg.Tell("a service in trouble, %s, resource %s", b.url, Resource)
	return nil
}

// locker makes a lock on connections of its own, closed by Close. The demo, which
// started the nodes, has vouched for them.
func (w *World) locker(instance string, opts []instrument.Option) (lock.Locker, exporter.ConnectionSource, error) {
	redlock, err := redlock.Open(w.urls(), lock.WithInstance(instance))
	if err != nil {
		return nil, nil, err
	}
	w.ends = append(w.ends, redlock.Close)
	measured, err := instrument.Wrap(redlock, opts...)
	if err != nil {
		return nil, nil, err
	}
	w.ends = append(w.ends, func() error { return measured.Flush(context.Background()) })
	return measured, redlock, nil
}

// serve serves metrics with exemplars.
func (b *billing) serve(registry *prometheus.Registry) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b.url = "http://" + l.Addr().String()
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	b.server = &http.Server{Handler: mux, ReadHeaderTimeout: askLimit}
	b.loops.Go(func() {
		err := b.server.Serve(l)
		if errors.Is(err, http.ErrServerClosed) {
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.failed = err
	})
	return nil
}

func (b *billing) err() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

func (b *billing) close() error {
	b.stop()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	err := b.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, b.server.Close())
	}
	b.loops.Wait()
	return err
}
