package instrument_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

const patience = 15 * time.Second

func addrs(servers []*redisproc.Server) (all []string) {
	for _, s := range servers {
		all = append(all, s.Addr())
	}
	return all
}

// vouchFor lets new servers vote at once.
func vouchFor(t testing.TB, servers []*redisproc.Server) {
	t.Helper()
	var clients []redis.UniversalClient
	for _, addr := range addrs(servers) {
		c := redis.NewClient(&redis.Options{Addr: addr})
		defer c.Close()
		clients = append(clients, c)
	}
	must(t, redlock.Vouch(t.Context(), clients))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

// noop is a Locker that only hands out a lease, and calls no hooks.
type noop struct{ err error }

func (n *noop) Acquire(ctx context.Context, resource string, _ ...lock.AcquireOption) (lock.Lease, error) {
	if n.err != nil {
		return nil, n.err
	}
	return &noopLease{ctx: ctx, resource: resource}, nil
}

type noopLease struct {
	ctx      context.Context
	resource string
	err      error
}

func (l *noopLease) Resource() string              { return l.resource }
func (l *noopLease) Context() context.Context      { return l.ctx }
func (l *noopLease) Fence() uint64                 { return 1 }
func (l *noopLease) Remaining() time.Duration      { return time.Second }
func (l *noopLease) Extend(context.Context) error  { return l.err }
func (l *noopLease) Release(context.Context) error { return l.err }

// panicking is a log handler whose methods all panic.
type panicking struct{}

func (panicking) Enabled(context.Context, slog.Level) bool  { return true }
func (panicking) Handle(context.Context, slog.Record) error { panic("handle") }
func (p panicking) WithAttrs([]slog.Attr) slog.Handler      { return p }
func (p panicking) WithGroup(string) slog.Handler           { return p }

// logText is a log in memory.
type logText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logText) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// gather reads one sample, or 0 if it does not exist. Histograms count observations.
func gather(t testing.TB, c prometheus.Collector, name string, labels ...string) float64 {
	t.Helper()
	m := find(t, c, name, labels...)
	switch {
	case m == nil:
		return 0
	case m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount())
	case m.Counter != nil:
		return m.Counter.GetValue()
	default:
		return m.Gauge.GetValue()
	}
}

// find returns the series with these labels, given as alternating names and values.
func find(t testing.TB, c prometheus.Collector, name string, labels ...string) *dto.Metric {
	t.Helper()
	for _, f := range families(t, c) {
		if f.GetName() != "distributed_lock_"+name {
			continue
		}
		for _, m := range f.Metric {
			have := make(map[string]string)
			for _, l := range m.Label {
				have[l.GetName()] = l.GetValue()
			}
			matches := len(have) == len(labels)/2
			for i := 0; i < len(labels); i += 2 {
				matches = matches && have[labels[i]] == labels[i+1]
			}
			if matches {
				return m
			}
		}
	}
	return nil
}

func families(t testing.TB, c prometheus.Collector) []*dto.MetricFamily {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	must(t, r.Register(c))
	all, err := r.Gather()
	must(t, err)
	return all
}

var errBoom = errors.New("boom")
