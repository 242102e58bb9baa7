package locktest

import (
	"context"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// startTimeout bounds what Servers and Cluster wait for, also in a test without a deadline.
const startTimeout = time.Minute

// Servers starts n real redis-servers and stops them when the test ends. If redis-server is not installed, the test
// fails with instructions: skipping would let the suite pass without proving anything.
func Servers(t testing.TB, n int, opts ...redisproc.Option) []*redisproc.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	servers, err := redisproc.StartN(ctx, n, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		t.Cleanup(func() { stopped(t, s.Stop()) })
	}
	return servers
}

// Port returns a port of 127.0.0.1 that no other test gets until this one ends.
func Port(t testing.TB) int {
	t.Helper()
	r, err := process.ReservePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopped(t, r.Release()) })
	return r.Numbers[0]
}

// Cluster starts a real Redis Cluster with this many masters, as [Servers] does. [redisproc.WithReplicas] adds
// replicas. Cluster takes over two seconds.
func Cluster(t testing.TB, masters int, opts ...redisproc.ClusterOption) *redisproc.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	c, err := redisproc.StartCluster(ctx, masters, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopped(t, c.Stop()) })
	return c
}

func stopped(t testing.TB, err error) {
	if err != nil {
		t.Errorf("stop redis-server: %v", err)
	}
}
