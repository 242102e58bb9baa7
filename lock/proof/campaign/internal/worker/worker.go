//go:build linux

package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/ledger"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Ready is what a worker says when it can be asked to end.
const Ready = "ready"

// flushTime bounds the wait for the last log records to be written.
const flushTime = 5 * time.Second

// worker is this process.
type worker struct {
	cfg     Config
	events  *history.Writer
	ledger  *ledger.Client
	locker  lock.Locker
	views   *views // nil unless the worker serves any
	metrics *metricsWriter
	stop    <-chan struct{} // closed when it is asked to end

	ids   counter
	ended sync.WaitGroup // leases whose end was not told yet
}

// Run works until the process gets SIGTERM, and returns when everything it held was given
// back, everything it started has ended, and everything was written down.
func Run(cfg Config) (err error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	redis.SetLogger(&logging.VoidLogger{})
	leaks := goleak.IgnoreCurrent()
	stop := make(chan struct{})
	go func() {
		<-signals
		close(stop)
	}()

	w := &worker{cfg: cfg, stop: stop}
	if cfg.Views {
		if w.views, err = listen(); err != nil {
			return err
		}
		defer w.views.close()
	}
	fmt.Println(Ready, w.views.address())

	if w.events, err = history.Create(cfg.HistoryFile()); err != nil {
		return err
	}
	w.events.Write(history.Event{T: history.Now(), Kind: history.Started,
		Text: fmt.Sprintf("%d nodes", len(cfg.Nodes))})
	if err := w.work(); err != nil {
		return errors.Join(err, w.events.Close())
	}
	left := "" // what goleak finds
	if err := goleak.Find(leaks, goleak.IgnoreTopFunction("os/signal.loop")); err != nil {
		left = err.Error()
	}
	w.events.Write(history.Event{T: history.Now(), Kind: history.Done, Text: left})
	return w.events.Close()
}

// work makes the locker, lets callers use it, and takes it down.
func (w *worker) work() (err error) {
	if w.ledger, err = ledger.Dial(w.cfg.Ledger); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.ledger.Close()) }()
	log, err := os.Create(w.cfg.LogFile())
	if err != nil {
		return err
	}
	defer log.Close()
	next, closeNext, err := w.newLocker()
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	flush, err := w.observe(next, registry, slog.New(slog.NewJSONHandler(log, nil)))
	if err != nil {
		return errors.Join(err, closeNext())
	}
	if w.metrics, err = newMetricsWriter(w.cfg.MetricsFile(), registry); err != nil {
		return errors.Join(err, closeNext())
	}

	observers, over := sync.WaitGroup{}, make(chan struct{})
	observers.Go(func() { w.watchStalls(over) })
	observers.Go(func() { w.metrics.again(w.rarely(time.Second), over) })
	observers.Go(func() { w.leak(over) })
	built := make(chan error, 1)
	go func() { built <- w.useConstructs() }()
	w.useLocks()
	failed := <-built
	close(over)
	observers.Wait()
	w.ended.Wait()
	closed := errors.Join(failed, closeNext())
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	return errors.Join(closed, flush(ctx), w.metrics.close())
}

// observe makes the Locker that callers use, and returns how to wait for its last log records. Every loss has a record.
func (w *worker) observe(next lock.Locker, registry *prometheus.Registry, logger *slog.Logger) (
	flush func(context.Context) error, err error,
) {
	opts := []instrument.Option{
		instrument.WithResourceLabel(func(r string) string { return r }), instrument.WithLogInterval(0),
		instrument.WithIdleResources(0), // a judge compares all counters with the whole history
	}
	if w.views != nil {
		w.locker, flush, err = w.views.serve(next, registry, logger, opts)
		return flush, err
	}
	measured, err := instrument.Wrap(next, append(opts, instrument.WithRegisterer(registry),
		instrument.WithTracerProvider(noop.NewTracerProvider()), instrument.WithLogger(logger))...)
	if err != nil {
		return nil, err
	}
	w.locker = measured
	return measured.Flush, nil
}

// rarely is how long to wait between two looks of a worker at itself.
func (w *worker) rarely(usually time.Duration) time.Duration {
	if w.cfg.Quiet {
		return 10 * usually
	}
	return usually
}

// newLocker is what the callers' locks come from, and how it is closed.
func (w *worker) newLocker() (lock.Locker, func() error, error) {
	if w.cfg.Forge {
		return forger{w.ledger}, func() error { return nil }, nil
	}
	var clients []redis.UniversalClient
	closeClients := func() (err error) {
		for _, c := range clients {
			err = errors.Join(err, c.Close())
		}
		return err
	}
	for _, addr := range w.cfg.Nodes {
		clients = append(clients, redis.NewClient(&redis.Options{Addr: addr}))
	}
	opts := []lock.Option{lock.WithNodeNames(w.cfg.NodeNames...), lock.WithMaxTTL(w.cfg.MaxTTL),
		lock.WithInstance(w.cfg.Name), lock.WithNodeTimeout(w.cfg.NodeTimeout)}
	if w.views != nil {
		opts = append(opts, lock.WithPage(w.views.page()))
	}
	engine, err := redlock.New(clients, opts...)
	if err != nil {
		return nil, nil, errors.Join(err, closeClients())
	}
	return engine, func() error { return errors.Join(engine.Close(), closeClients()) }, nil
}

// useLocks returns when every caller has come to its end.
func (w *worker) useLocks() {
	var callers sync.WaitGroup
	for i := range w.cfg.Callers {
		callers.Go(func() { newCaller(w, i).loop() })
	}
	callers.Wait()
}

const (
	stallTick = 10 * time.Millisecond
	// stallLeast is by how much a tick has to be late to be written down.
	stallLeast = 20 * time.Millisecond
)

// watchStalls writes down when this process did not get to run, be it stopped, starved or
// on a machine that is busy.
func (w *worker) watchStalls(over <-chan struct{}) {
	every := w.rarely(stallTick)
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := history.Now()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		now := history.Now()
		if now-last > int64(every+stallLeast) {
			w.events.Write(history.Event{T: now, Kind: history.Stall, Since: last})
		}
		last = now
	}
}
