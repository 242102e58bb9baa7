package etcdlock_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// keys are the claims to a resource, the oldest first.
func keys(t testing.TB, client *clientv3.Client, resource string) *clientv3.GetResponse {
	t.Helper()
	resp, err := client.Get(context.Background(), etcdlock.MutexPrefix(lock.DefaultPrefix, resource)+"/",
		clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	must(t, err)
	return resp
}

func claims(t testing.TB, c *etcdproc.Cluster, resource string) int {
	t.Helper()
	client, err := c.Client()
	must(t, err)
	defer func() { _ = client.Close() }()
	return len(keys(t, client, resource).Kvs)
}

// wait acquires in the background, and returns when that stands in the queue.
func wait(t testing.TB, c *etcdproc.Cluster, l lock.Locker, resource string) <-chan lock.Lease {
	t.Helper()
	before, got := claims(t, c, resource), make(chan lock.Lease, 1)
	go func() {
		lease, err := l.Acquire(context.Background(), resource, lock.TTL(faultTTL*2), lock.MaxWait(waitTime))
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	eventually(t, "it stands in the queue", func() bool { return claims(t, c, resource) > before })
	return got
}

// TestSessionExpiresWhileWaiting: the claim is lost, and another is taken.
func TestSessionExpiresWhileWaiting(t *testing.T) {
	c := cluster(t, 1)
	held := acquire(t, locker(t, c), "job")
	got := wait(t, c, locker(t, c, lock.WithPollInterval(time.Minute)), "job")
	admin := client(t, c)
	claim := keys(t, admin, "job").Kvs[1]
	_, err := admin.Revoke(t.Context(), clientv3.LeaseID(claim.Lease))
	must(t, err)
	eventually(t, "it stands in the queue again", func() bool {
		kvs := keys(t, admin, "job").Kvs
		return len(kvs) == 2 && kvs[1].CreateRevision > claim.CreateRevision
	})
	must(t, held.Release(t.Context()))
	must(t, (<-got).Release(t.Context()))
	if left := claims(t, c, "job"); left != 0 {
		t.Errorf("%d keys are left", left)
	}
}

// TestCompaction of what happened while the member was away ends a watch for good: another
// is made, and the waiter is served long before it would look by itself.
func TestCompaction(t *testing.T) {
	c := cluster(t, 1)
	holder := locker(t, c)
	held := acquire(t, holder, "job", lock.TTL(8*time.Second))
	got := wait(t, c, locker(t, c, lock.WithPollInterval(time.Minute)), "job")
	admin := client(t, c)
	compact := func() {
		t.Helper()
		resp, err := admin.Put(t.Context(), "other", "x")
		must(t, err)
		_, err = admin.Compact(t.Context(), resp.Header.Revision, clientv3.WithCompactPhysical())
		must(t, err)
	}
	compact()
	must(t, c.Members[0].Kill())
	must(t, c.Members[0].Start())
	must(t, c.Await(t.Context()))
	compact()
	must(t, held.Release(t.Context()))
	must(t, (<-got).Release(t.Context()))
}

// TestLateAcquire: what a member does after its caller has given up has no effect.
func TestLateAcquire(t *testing.T) {
	c := cluster(t, 1)
	l := locker(t, c, lock.WithNodeTimeout(200*time.Millisecond))
	must(t, acquire(t, l, "job").Release(t.Context()))
	held := acquire(t, l, "held", lock.TTL(time.Second))
	must(t, c.Members[0].Pause())
	for range 3 {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(30*time.Second))
		wantErr(t, err, lock.ErrNoQuorum)
	}
	<-held.Context().Done()
	wantErr(t, context.Cause(held.Context()), lock.ErrLost)
	must(t, c.Members[0].Resume())
	eventually(t, "the lock can be had, long before the TTL of what came late", func() bool {
		lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
		return err == nil && lease.Release(t.Context()) == nil
	})
}

// TestRestoredSnapshot forgets what was granted since. A process that has seen more says so,
// and the tokens go on above all before, for everybody.
func TestRestoredSnapshot(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	m := c.Members[0]
	witness := locker(t, c)
	must(t, acquire(t, witness, "job").Release(t.Context()))
	must(t, m.Kill())
	must(t, m.Save())
	must(t, m.Start())
	must(t, c.Await(t.Context()))
	for range 5 {
		must(t, acquire(t, witness, "job").Release(t.Context()))
	}
	forgotten := acquire(t, witness, "job", lock.TTL(20*time.Second))
	must(t, m.Kill())
	must(t, m.Restore())
	must(t, m.Start())
	must(t, c.Await(t.Context()))
	var told atomic.Pointer[locktrace.NodeRestart]
	ctx := locktrace.With(t.Context(), &locktrace.Trace{NodeRestart: func(_ context.Context,
		e locktrace.NodeRestart) {
		told.Store(&e)
	}})
	var first lock.Lease
	eventually(t, "the member is connected to again", func() (ok bool) {
		var err error
		first, err = witness.Acquire(ctx, "other", lock.NoWait(), lock.TTL(10*time.Second))
		return err == nil
	})
	if e := told.Load(); e == nil || !e.Witnessed || e.Left != lock.DefaultMaxTTL {
		t.Errorf("told: %+v", e)
	}
	second := acquire(t, locker(t, c), "job")
	if first.Fence() <= forgotten.Fence() || second.Fence() <= first.Fence() {
		t.Errorf("fences %d and %d after %d", first.Fence(), second.Fence(), forgotten.Fence())
	}
	wantErr(t, forgotten.Extend(t.Context()), lock.ErrLost)
	must(t, second.Release(t.Context()))
}

// TestFencesFollowTheClock: an old base, as a snapshot brings back, is raised; one that
// cannot be counted on from is refused.
func TestFencesFollowTheClock(t *testing.T) {
	c := cluster(t, 1)
	l, admin := locker(t, c), client(t, c)
	before := uint64(time.Now().UnixMicro())
	lease := acquire(t, l, "job")
	if lease.Fence() <= before+11_000_000 {
		t.Errorf("fence %d: a Redis node whose clock is 10 s ahead may have granted more", lease.Fence())
	}
	must(t, lease.Release(t.Context()))
	_, err := admin.Put(t.Context(), etcdlock.DefaultFenceKey, "1000")
	must(t, err)
	next := acquire(t, l, "job")
	if next.Fence() <= lease.Fence() {
		t.Errorf("fence %d after %d", next.Fence(), lease.Fence())
	}
	must(t, next.Release(t.Context()))
	_, err = admin.Put(t.Context(), etcdlock.DefaultFenceKey, "nonsense")
	must(t, err)
	_, err = l.Acquire(t.Context(), "job", lock.NoWait())
	wantErr(t, err, driver.ErrFenceCounter)
}

// TestHolderIsTold who has waited says so soon after it has the lock.
func TestHolderIsTold(t *testing.T) {
	c := cluster(t, 1)
	held := acquire(t, locker(t, c), "job")
	got := wait(t, c, locker(t, c, lock.WithInstance("orders-1")), "job")
	freed := time.Now()
	must(t, held.Release(t.Context()))
	lease := <-got
	other := locker(t, c)
	eventually(t, "the holder says since when", func() bool {
		_, err := other.Acquire(t.Context(), "job", lock.NoWait())
		var held *lock.HeldError
		return errors.As(err, &held) && held.Holder.Instance == "orders-1" &&
			held.Holder.Since.After(freed.Truncate(time.Millisecond).Add(-time.Millisecond))
	})
	must(t, lease.Release(t.Context()))
}

// TestNoSpace: what is held is kept and given back, and nothing else can be had.
func TestNoSpace(t *testing.T) {
	c := cluster(t, 1, "--quota-backend-bytes", "262144")
	l, admin := locker(t, c), client(t, c)
	held := acquire(t, l, "job")
	big := strings.Repeat("x", 64<<10)
	eventually(t, "the database is full", func() bool {
		_, err := admin.Put(t.Context(), "big", big)
		return err != nil
	})
	_, err := l.Acquire(t.Context(), "other", lock.NoWait())
	wantErr(t, err, lock.ErrNoQuorum, driver.ErrMisconfigured)
	if !strings.Contains(err.Error(), "alarm disarm") {
		t.Errorf("no remedy: %v", err)
	}
	must(t, held.Extend(t.Context()))
	must(t, held.Release(t.Context()))
}

// TestNoMajority is told as such, for the member that is left answers.
func TestNoMajority(t *testing.T) {
	t.Parallel()
	c := cluster(t, 3)
	l := locker(t, c)
	must(t, acquire(t, l, "job").Release(t.Context()))
	must(t, c.Members[0].Kill())
	must(t, c.Members[1].Kill())
	_, err := l.Acquire(t.Context(), "job", lock.NoWait())
	wantErr(t, err, lock.ErrNoQuorum)
	if class := driver.ClassOf(err); !class.Silent() {
		t.Errorf("class %s: %v", class, err)
	}
}

func TestWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	admin := client(t, c)
	for _, do := range []func() error{
		func() error { _, err := admin.UserAdd(t.Context(), "root", "r00t"); return err },
		func() error { _, err := admin.UserGrantRole(t.Context(), "root", "root"); return err },
		func() error { _, err := admin.UserAdd(t.Context(), "stranger", "s3cr3t"); return err },
		func() error { _, err := admin.AuthEnable(t.Context()); return err },
	} {
		_ = do() // role root exists only once auth was enabled in some versions
	}
	web := httptest.NewUnstartedServer(http.NotFoundHandler())
	web.EnableHTTP2 = true
	web.Start()
	defer web.Close()
	for name, test := range map[string]struct {
		config clientv3.Config
		want   error
		remedy string
	}{
		"nobody is there": {clientv3.Config{Endpoints: []string{"127.0.0.1:1"}}, driver.ErrUnreachable, ""},
		"no etcd":         {clientv3.Config{Endpoints: []string{web.URL}}, driver.ErrUnreachable, ""},
		"no user":         {clientv3.Config{Endpoints: c.Endpoints()}, driver.ErrDenied, "user and password"},
		"no rights": {clientv3.Config{Endpoints: c.Endpoints(), Username: "stranger", Password: "s3cr3t"},
			driver.ErrDenied, "readwrite"},
	} {
		t.Run(name, func(t *testing.T) {
			test.config.Logger = zap.NewNop()
			client, err := clientv3.New(test.config)
			must(t, err)
			defer func() { _ = client.Close() }()
			l, err := etcdlock.New(client, lock.WithNodeTimeout(time.Second))
			must(t, err)
			defer func() { must(t, l.Close()) }()
			_, err = l.Acquire(t.Context(), "job", lock.NoWait())
			wantErr(t, err, lock.ErrNoQuorum, test.want)
			if text := err.Error(); !strings.Contains(text, test.remedy) || strings.Contains(text, "s3cr3t") {
				t.Errorf("%s", text)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := etcdlock.New(nil)
	wantErr(t, err, lock.ErrInvalidNode)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://user:s3cr3t@127.0.0.1:1"},
		Logger: zap.NewNop()})
	must(t, err)
	defer func() { _ = client.Close() }()
	for _, opt := range []lock.Option{etcdlock.WithFenceKey(""), nil, struct{ lock.DriverOption }{}} {
		_, err := etcdlock.New(client, opt)
		wantErr(t, err, lock.ErrInvalidOption)
	}
}
