package pglock_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// failedOver is a standby that was promoted without what the primary has granted last: the lease that is returned.
func failedOver(t *testing.T) (*pgproc.Server, lock.Lease) {
	t.Helper()
	primary := server(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	standby, err := primary.Standby(ctx)
	must(t, err)
	t.Cleanup(func() { must(t, standby.Stop()) })
	l := locker(t, primary)
	must(t, acquire(t, l, "before").Release(t.Context()))
	observer := must2(pglock.Open(standby.URL("service")))(t)
	_, err = observer.Acquire(t.Context(), "job", lock.NoWait())
	wantErr(t, err, driver.ErrReplica)
	_, err = observer.Peek(t.Context(), "job")
	wantErr(t, err, driver.ErrReplica)
	must(t, standby.Kill())
	lease := acquire(t, l, "job")
	must(t, primary.Kill())
	must(t, standby.Restart(ctx))
	must(t, standby.Promote(ctx))
	return standby, lease
}

func must2(l *engine.Engine, err error) func(testing.TB) *engine.Engine {
	return func(t testing.TB) *engine.Engine {
		t.Helper()
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}
}

// TestAFailoverIsTold: the standby was not waited for, and has not got the lock. Whoever asks there is told so, and a
// second lease is valid.
func TestAFailoverIsTold(t *testing.T) {
	s, _ := failedOver(t)
	var told atomic.Pointer[locktrace.NodeRestart]
	ctx := locktrace.With(t.Context(), &locktrace.Trace{NodeRestart: func(_ context.Context,
		e locktrace.NodeRestart) {
		told.Store(&e)
	}})
	l := locker(t, s)
	lease, err := l.Acquire(ctx, "job", lock.NoWait())
	must(t, err)
	must(t, lease.Release(t.Context()))
	e := told.Load()
	if e == nil || e.Enforced || e.Left <= 0 || e.Left > lock.DefaultMaxTTL {
		t.Fatalf("told: %+v", e)
	}
	told.Store(nil)
	lease, err = l.Acquire(ctx, "job", lock.NoWait())
	must(t, err)
	must(t, lease.Release(t.Context()))
	if e := told.Load(); e != nil {
		t.Errorf("told again: %+v", e)
	}
}

// TestAFailoverIsWaitedOut where that is asked for, by every process, from when the first of them came.
func TestAFailoverIsWaitedOut(t *testing.T) {
	s, first := failedOver(t)
	const memory = 5 * time.Second
	open := func() *engine.Engine {
		return locker(t, s, pglock.WithFailoverQuarantine(), lock.WithMaxTTL(memory),
			lock.WithNodeTimeout(200*time.Millisecond))
	}
	l := open()
	began := time.Now()
	var err error
	eventually(t, "it says why it grants nothing", func() bool {
		_, err = l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(4*time.Second))
		return err != nil && strings.Contains(err.Error(), "promoted")
	})
	wantErr(t, err, lock.ErrNoQuorum, driver.ErrQuarantined)
	must(t, s.Kill())
	must(t, s.Restart(t.Context())) // it is remembered
	other := open()
	eventually(t, "another process has the lock", func() bool {
		lease, err := other.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(4*time.Second))
		if err != nil {
			return false
		}
		if waited := time.Since(began); waited < memory-100*time.Millisecond {
			t.Errorf("granted after %v", waited)
		}
		if lease.Fence() <= first.Fence() {
			t.Errorf("fence %d after %d", lease.Fence(), first.Fence())
		}
		must(t, lease.Release(t.Context()))
		return true
	})
}

// TestANameMovesToThePrimary: a name or a balancer led to a standby, which keeps its sockets when the name leads elsewhere.
func TestANameMovesToThePrimary(t *testing.T) {
	primary := server(t)
	standby, err := primary.Standby(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, standby.Stop()) })
	must(t, acquire(t, locker(t, primary), "before").Release(t.Context()))
	name, err := netfault.Listen(fmt.Sprint("127.0.0.1:", standby.Port()))
	must(t, err)
	t.Cleanup(func() { must(t, name.Close()) })
	url := strings.Replace(standby.URL("service"), fmt.Sprint("127.0.0.1:", standby.Port()), name.Addr(), 1)
	l := must2(pglock.Open(url, lock.WithNodeTimeout(2*time.Second)))(t)
	for range 4 {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		wantErr(t, err, driver.ErrReplica)
	}
	name.SetTarget(fmt.Sprint("127.0.0.1:", primary.Port()))
	eventually(t, "the primary is asked", func() bool {
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
		if err != nil {
			return false
		}
		must(t, lease.Release(t.Context()))
		return true
	})
}
