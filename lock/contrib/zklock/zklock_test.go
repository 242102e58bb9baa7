package zklock_test

import (
	"context"
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

// TestMain leaves the example out where ZooKeeper may be missing: an example cannot skip itself.
func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		_ = flag.Set("test.skip", "^Example")
	}
	leaktest.Main(m)
}

// A server that does not answer must not be mistaken for a machine that is busy.
const (
	nodeTimeout = 2 * time.Second
	patience    = 60 * time.Second
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("%v; want %v", err, target)
		}
	}
}

func ensemble(t testing.TB, n int, opts ...zkproc.Option) *zkproc.Ensemble {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs ZooKeeper: make proof runs it")
	}
	e, err := zkproc.Start(context.Background(), n, opts...)
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(e.Report())
		}
		must(t, e.Stop())
	})
	return e
}

func locker(t testing.TB, e *zkproc.Ensemble, opts ...lock.Option) *engine.Engine {
	t.Helper()
	return open(t, e.Addrs(), opts...)
}

func open(t testing.TB, addrs []string, opts ...lock.Option) *engine.Engine {
	t.Helper()
	l, err := zklock.New(addrs, append([]lock.Option{lock.WithNodeTimeout(nodeTimeout)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func acquire(t testing.TB, l lock.Locker, resource string, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), resource, append([]lock.AcquireOption{lock.MaxWait(patience)}, opts...)...)
	must(t, err)
	return lease
}

func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// TestConformance, of an ensemble where each locker may be on another server, and whose leader hangs, goes on and is
// killed.
func TestConformance(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 3)
	conform(t, e, func(t testing.TB) {
		leader, err := e.Leader()
		must(t, err)
		must(t, leader.Pause())
		time.Sleep(2 * time.Second)
		must(t, leader.Resume())
		time.Sleep(time.Second)
		must(t, leader.Kill())
	})
}

func TestConformanceOfOneServer(t *testing.T) {
	t.Parallel()
	conform(t, ensemble(t, 1), nil)
}

func conform(t *testing.T, e *zkproc.Ensemble, fault func(testing.TB)) {
	locktest.Run(t, locktest.Driver{
		New: func(t testing.TB, opts ...lock.Option) lock.Locker {
			return locker(t, e, append(opts, lock.WithNodeTimeout(time.Second), lock.WithMaxTTL(16*time.Second))...)
		},
		Capabilities: driver.Capabilities{Peek: true, Revoke: true, Readers: true, Slots: true},
		ReaderFences: true, TTL: 4 * time.Second, Fault: fault,
	})
}

// TestBadInput is refused before a server is asked.
func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		servers []string
		opts    []lock.Option
		want    error
	}{
		"no servers":    {nil, nil, lock.ErrInvalidNode},
		"an empty name": {[]string{"a", ""}, nil, lock.ErrInvalidNode},
		"a bad root":    {[]string{"a"}, []lock.Option{zklock.WithRoot("locks/")}, lock.ErrInvalidOption},
		"the root":      {[]string{"a"}, []lock.Option{zklock.WithRoot("/")}, lock.ErrInvalidOption},
		"no ACL":        {[]string{"a"}, []lock.Option{zklock.WithACL()}, lock.ErrInvalidOption},
		"a foreign one": {[]string{"a"}, []lock.Option{struct{ lock.DriverOption }{}}, lock.ErrInvalidOption},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := zklock.New(c.servers, c.opts...)
			wantErr(t, err, c.want)
		})
	}
}
