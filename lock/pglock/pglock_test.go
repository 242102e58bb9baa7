package pglock_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

func TestMain(m *testing.M) { leaktest.Main(tests{m}) }

// tests remove in the end what the servers were copied from.
type tests struct{ *testing.M }

func (t tests) Run() int {
	status := t.M.Run()
	if err := original.remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(status, 1)
	}
	return status
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server is a server on which a role that owns nothing may take locks.
func server(t testing.TB, options ...string) *pgproc.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	first, err := original.get(ctx)
	must(t, err)
	s, err := first.Copy(ctx, options...)
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop()) })
	return s
}

func pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	db, err := pgxpool.New(context.Background(), url)
	must(t, err)
	t.Cleanup(db.Close)
	return db
}

func locker(t testing.TB, s *pgproc.Server, opts ...lock.Option) *engine.Engine {
	t.Helper()
	l, err := pglock.Open(s.URL("service"), append([]lock.Option{lock.WithNodeTimeout(2 * time.Second)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// TestConformance, of a server that hangs, goes on, is killed and comes back. The death of a process loses nothing that was
// written, with fsync off as well; with it on, a busy disk holds up a commit for longer than a lock's TTL.
func TestConformance(t *testing.T) {
	s := server(t)
	locktest.Run(t, locktest.Driver{
		New: func(t testing.TB, opts ...lock.Option) lock.Locker {
			return locker(t, s, append(opts, lock.WithNodeTimeout(1500*time.Millisecond))...)
		},
		Capabilities: everything, ReaderFences: true, TTL: 6 * time.Second,
		Fault: func(t testing.TB) {
			must(t, s.Pause())
			time.Sleep(2 * time.Second)
			must(t, s.Resume())
			time.Sleep(500 * time.Millisecond)
			must(t, s.Kill())
			must(t, s.Restart(t.Context()))
		},
	})
}

// TestConformanceWithoutWakeUps: waiters that nobody notifies look again, and writers keep readers out all the same.
func TestConformanceWithoutWakeUps(t *testing.T) {
	s := server(t)
	locktest.Run(t, locktest.Driver{
		New: func(t testing.TB, opts ...lock.Option) lock.Locker {
			return locker(t, s, append(opts, pglock.WithoutListener(), lock.WithPollInterval(50*time.Millisecond),
				lock.WithNodeTimeout(time.Second))...)
		},
		Capabilities: everything, ReaderFences: true, TTL: 4 * time.Second,
	})
}

var everything = driver.Capabilities{Peek: true, Revoke: true, Keep: true, Readers: true, Slots: true}

// TestWhatMetricsSay of a server of another system: the same names, with its own as the backend.
func TestWhatMetricsSay(t *testing.T) {
	s := server(t)
	registry := prometheus.NewRegistry()
	l, err := instrument.Wrap(locker(t, s), instrument.WithRegisterer(registry))
	must(t, err)
	must(t, acquire(t, l, "job").Release(t.Context()))
	families, err := registry.Gather()
	must(t, err)
	seen := false
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, label := range m.GetLabel() {
				seen = seen || label.GetName() == "backend" && label.GetValue() == "postgresql"
			}
		}
	}
	if !seen {
		t.Errorf("no series has the backend postgresql: %v", families)
	}
}
