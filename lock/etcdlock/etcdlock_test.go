package etcdlock_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.Cleanup(os.Exit)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func cluster(t testing.TB, members int, options ...string) *etcdproc.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := etcdproc.Start(ctx, members, options...)
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	return c
}

func client(t testing.TB, c *etcdproc.Cluster) *clientv3.Client {
	t.Helper()
	client, err := c.Client()
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// locker is one process among others.
func locker(t testing.TB, c *etcdproc.Cluster, opts ...lock.Option) *engine.Engine {
	t.Helper()
	l, err := etcdlock.New(client(t, c), append([]lock.Option{lock.WithNodeTimeout(time.Second)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// A node that does not answer must not be mistaken for a machine that is busy.
const (
	nodeTimeout = 1500 * time.Millisecond
	suiteTTL    = 4 * nodeTimeout
)

func conform(t *testing.T, members int, decorate func(testing.TB, lock.Locker) lock.Locker) {
	c := cluster(t, members)
	locktest.TestLocker(t, func(t testing.TB) lock.Locker {
		return decorate(t, locker(t, c, lock.WithNodeTimeout(nodeTimeout)))
	}, locktest.WithTTL(suiteTTL))
}

func TestConformance(t *testing.T) {
	t.Parallel()
	conform(t, 1, func(_ testing.TB, l lock.Locker) lock.Locker { return l })
}

// TestConformanceDecorated has metrics, spans and logs around it.
func TestConformanceDecorated(t *testing.T) {
	t.Parallel()
	conform(t, 1, func(t testing.TB, l lock.Locker) lock.Locker {
		wrapped, err := instrument.Wrap(l, instrument.WithRegisterer(prometheus.NewRegistry()),
			instrument.WithTracerProvider(trace.NewTracerProvider()),
			instrument.WithLogger(slog.New(slog.DiscardHandler)))
		must(t, err)
		return wrapped
	})
}

func TestConformanceOnThreeMembers(t *testing.T) {
	t.Parallel()
	conform(t, 3, func(_ testing.TB, l lock.Locker) lock.Locker { return l })
}
