package zklock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
	"github.com/lockscope/lockscope/lock/driver"
)

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// client is a connection of the plain library.
func client(t testing.TB, e *zkproc.Ensemble) *zk.Conn {
	t.Helper()
	return connect(t, e.Addrs())
}

func connect(t testing.TB, servers []string) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(servers, 20*time.Second, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	must(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events { // until it has ended
		}
	})
	return conn
}

// children are the names in a resource's queue.
func children(t testing.TB, conn *zk.Conn, resource string) []string {
	t.Helper()
	_, _ = conn.Sync("/locks/" + resource)
	names, _, err := conn.Children("/locks/" + resource)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	return names
}

// TestPlainLockAndThisExcludeEachOther, in both directions and under load, in one queue.
func TestPlainLockAndThisExcludeEachOther(t *testing.T) {
	e := ensemble(t, 1)
	conn, l := client(t, e), locker(t, e)
	plain := zk.NewLock(conn, "/locks/job", zk.WorldACL(zk.PermAll))
	must(t, plain.Lock())
	_, err := l.Acquire(t.Context(), "job", lock.NoWait())
	wantErr(t, err, lock.ErrHeld)
	waiting := make(chan error, 1)
	go func() {
		waiting <- lock.Do(t.Context(), l, "job", func(context.Context, lock.Lease) error { return nil })
	}()
	eventually(t, "it queues", func() bool { return len(children(t, conn, "job")) == 2 })
	must(t, plain.Unlock())
	must(t, <-waiting)

	lease := acquire(t, l, "job")
	go func() { waiting <- plain.Lock() }()
	eventually(t, "the plain one queues", func() bool { return len(children(t, conn, "job")) == 2 })
	select {
	case err := <-waiting:
		t.Fatalf("locked twice: %v", err)
	default:
	}
	must(t, lease.Release(t.Context()))
	must(t, <-waiting)
	must(t, plain.Unlock())
	mixed(t, conn, l)
	if left := children(t, conn, "job"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func mixed(t *testing.T, conn *zk.Conn, l lock.Locker) {
	inside := make(chan struct{}, 1)
	work := func() {
		select {
		case inside <- struct{}{}:
			time.Sleep(time.Millisecond)
			<-inside
		default:
			t.Error("two at a time")
		}
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 10 {
				m := zk.NewLock(conn, "/locks/job", zk.WorldACL(zk.PermAll))
				if err := m.Lock(); err != nil {
					t.Error(err)
					continue
				}
				work()
				if err := m.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 10 {
				if err := lock.Do(t.Context(), l, "job",
					func(context.Context, lock.Lease) error { work(); return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestHandOffsAreToldNotPolled: waiters poll only once a minute, and have the lock in the order in which they came.
func TestHandOffsAreToldNotPolled(t *testing.T) {
	e := ensemble(t, 1)
	conn, first := client(t, e), locker(t, e)
	blocker := acquire(t, first, "job")
	order := make(chan int, 4)
	var all sync.WaitGroup
	for i := range 4 {
		l := locker(t, e, lock.WithPollInterval(time.Minute))
		all.Go(func() {
			err := lock.Do(t.Context(), l, "job", func(context.Context, lock.Lease) error { order <- i; return nil })
			if err != nil {
				t.Error(err)
			}
		})
		eventually(t, "it queues", func() bool { return len(children(t, conn, "job")) == i+2 })
	}
	began := time.Now()
	must(t, blocker.Release(t.Context()))
	all.Wait()
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("four hand-offs took %v", took)
	}
	for i := range 4 {
		if got := <-order; got != i {
			t.Errorf("number %d was served in place of %d", got, i)
		}
	}
}

// TestSessionsThatAreTooShort are told, with what there is and what would do.
func TestSessionsThatAreTooShort(t *testing.T) {
	e := ensemble(t, 1, zkproc.WithSettings("maxSessionTimeout=7000"))
	l := locker(t, e, lock.WithNodeTimeout(500*time.Millisecond))
	_, err := l.Acquire(t.Context(), "job")
	wantErr(t, err, lock.ErrNoQuorum, driver.ErrMisconfigured)
	if text := err.Error(); !strings.Contains(text, "maxSessionTimeout") || !strings.Contains(text, "2.916s") {
		t.Error(text)
	}
	must(t, acquire(t, l, "job", lock.TTL(2900*time.Millisecond)).Release(t.Context()))
	_, err = l.Acquire(t.Context(), "job", lock.TTL(time.Minute))
	wantErr(t, err, lock.ErrInvalidTTL)
}

// TestClose gives claims up at once, but for a lock that is held: the work it protects may still be running.
func TestClose(t *testing.T) {
	e := ensemble(t, 1)
	conn := client(t, e)
	for _, held := range []bool{false, true} {
		resource := fmt.Sprint("held:", held)
		l, err := zklock.New(e.Addrs(), lock.WithMaxTTL(time.Second), lock.WithNodeTimeout(200*time.Millisecond))
		must(t, err)
		lease, err := l.Acquire(t.Context(), resource, lock.TTL(time.Second))
		must(t, err)
		if !held {
			must(t, lease.Release(t.Context()))
		}
		must(t, l.Close())
		if left := len(children(t, conn, resource)); left != 0 && !held || left != 1 && held {
			t.Errorf("held %v: %d are left", held, left)
		}
		eventually(t, "it goes with its session", func() bool { return len(children(t, conn, resource)) == 0 })
	}
}

// TestOthersMayNot: who is not let in is told so; who says who it is may, and its secret is in no error.
func TestOthersMayNot(t *testing.T) {
	e := ensemble(t, 1)
	acl := zk.DigestACL(zk.PermAll, "orders", "s3cr3t")
	l := locker(t, e, zklock.WithACL(acl...), zklock.WithAuth("digest", []byte("orders:s3cr3t")))
	must(t, acquire(t, l, "job").Release(t.Context()))
	_, err := locker(t, e).Acquire(t.Context(), "job", lock.NoWait())
	wantErr(t, err, lock.ErrNoQuorum, driver.ErrDenied)
	if strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "WithAuth") {
		t.Error(err)
	}
}

// TestNamesThatAPathCannotHave are resources like all others, each its own.
func TestNamesThatAPathCannotHave(t *testing.T) {
	l := locker(t, ensemble(t, 1))
	for _, name := range []string{".", "..", "a/b", "a", "ä", "a%2Fb", ";fence-base", "\ufffd"} {
		lease := acquire(t, l, name)
		defer func() { must(t, lease.Release(context.WithoutCancel(t.Context()))) }()
	}
}
