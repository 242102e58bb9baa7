package etcdlock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// fault is what becomes of the next transaction that writes.
type fault int

const (
	none       fault = iota
	loseAnswer       // the member carries it out, and the client gets Unavailable
	holdBack         // the client gets Unavailable, and the member carries it out when the test lets it go
)

// faulty is a locker whose transactions can be lost and held back.
type faulty struct {
	*engine.Engine
	mu   sync.Mutex
	next fault

	late func() error // sends what was held back
}

func faultyLocker(t *testing.T, c *etcdproc.Cluster, opts ...lock.Option) *faulty {
	t.Helper()
	f := &faulty{}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: c.Endpoints(), DialTimeout: 2 * time.Second, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(f.intercept)},
	})
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	f.Engine, err = etcdlock.New(client, append([]lock.Option{lock.WithNodeTimeout(2 * time.Second)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

var errLost = status.Error(codes.Unavailable, "the connection broke")

func (f *faulty) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	txn, ok := req.(*etcdserverpb.TxnRequest)
	if !ok || !writesClaim(txn) {
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	if f.take(holdBack) {
		ctx = context.WithoutCancel(ctx)
		f.late = func() error { return invoke(ctx, method, req, new(etcdserverpb.TxnResponse), conn, opts...) }
		return errLost
	}
	err := invoke(ctx, method, req, reply, conn, opts...)
	if done, ok := reply.(*etcdserverpb.TxnResponse); ok && err == nil && done.Succeeded && f.take(loseAnswer) {
		return errLost
	}
	return err
}

// writesClaim reports whether a transaction makes a claim, or deletes one.
func writesClaim(txn *etcdserverpb.TxnRequest) bool {
	return slices.ContainsFunc(txn.Success, func(op *etcdserverpb.RequestOp) bool {
		key := op.GetRequestPut().GetKey()
		if key == nil {
			key = op.GetRequestDeleteRange().GetKey()
		}
		return strings.HasPrefix(string(key), lock.DefaultPrefix)
	})
}

func (f *faulty) set(next fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = next
}

// take reports whether that fault is next, which is none from then on.
func (f *faulty) take(what fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != what {
		return false
	}
	f.next = none
	return true
}

// happened reports whether the fault that was set has occurred.
func (f *faulty) happened() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next == none
}

// wantClaims checks how many claims there are to job.
func wantClaims(t *testing.T, c *etcdproc.Cluster, when string, want int) {
	t.Helper()
	if n := claims(t, c, "job"); n != want {
		t.Errorf("%s: %d claims, want %d", when, n, want)
	}
}

// TestTheAnswerToAClaimIsLost: it is not taken for another's, and nothing is left of it. Nor is a release reported as
// too late that has taken effect.
func TestTheAnswerToAClaimIsLost(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	l := faultyLocker(t, c)
	l.set(loseAnswer)
	lease, err := l.Acquire(t.Context(), "job", lock.NoWait())
	must(t, err)
	wantClaims(t, c, "held", 1)
	must(t, lease.Extend(t.Context()))
	if !l.happened() {
		t.Error("no answer was lost")
	}
	l.set(loseAnswer)
	must(t, lease.Release(t.Context()))
	if !l.happened() {
		t.Error("no answer was lost to the release")
	}
	wantClaims(t, c, "released", 0)
}

// TestTheAnswerToAWaitingClaimIsLost: the waiter has one claim, and the lock with it once those in front have left.
func TestTheAnswerToAWaitingClaimIsLost(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	admin, held := client(t, c), acquire(t, locker(t, c), "job")
	l := faultyLocker(t, c, lock.WithPollInterval(time.Minute))
	queued, got := make(chan struct{}, 1), make(chan lock.Lease, 1)
	ctx := locktrace.With(t.Context(), &locktrace.Trace{WaitStart: func(ctx context.Context, e locktrace.WaitStart) context.Context {
		if e.Kind == locktrace.WaitHolder && len(queued) == 0 {
			queued <- struct{}{}
		}
		return ctx
	}})
	l.set(loseAnswer)
	go func() {
		lease, err := l.Acquire(ctx, "job", lock.TTL(2*faultTTL), lock.MaxWait(waitTime))
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	<-queued
	claim := keys(t, admin, "job").Kvs[1]
	must(t, held.Release(t.Context()))
	lease := <-got
	if lease == nil {
		return
	}
	if kvs := keys(t, admin, "job").Kvs; !l.happened() || len(kvs) != 1 || kvs[0].CreateRevision != claim.CreateRevision {
		t.Errorf("answer lost: %v; the claim was %v, and the lock is %v", l.happened(), claim, kvs)
	}
	must(t, lease.Release(t.Context()))
	wantClaims(t, c, "released", 0)
}

// TestAClaimThatArrivesAfterItsRelease makes no key: nobody would give it back.
func TestAClaimThatArrivesAfterItsRelease(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	l := faultyLocker(t, c)
	l.set(holdBack)
	lease := acquire(t, l, "job", lock.TTL(2*faultTTL))
	must(t, lease.Release(t.Context()))
	if !l.happened() {
		t.Fatal("no claim was held back")
	}
	if err := l.late(); err == nil {
		t.Error("the late claim took effect")
	}
	wantClaims(t, c, "after the late claim", 0)
}

// TestTheEtcdLeaseOutlivesTheLock: a waiter's is renewed while it waits, and one that was used before is renewed before
// it is used again.
func TestTheEtcdLeaseOutlivesTheLock(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	admin, l := client(t, c), locker(t, c)
	left := func(kv *mvccpb.KeyValue) time.Duration {
		t.Helper()
		resp, err := admin.TimeToLive(t.Context(), clientv3.LeaseID(kv.Lease))
		must(t, err)
		if resp.TTL < 0 {
			t.Fatal("the etcd lease is over")
		}
		return time.Duration(resp.TTL) * time.Second
	}
	first := acquire(t, l, "job", lock.TTL(20*time.Second), lock.NoRenew())
	waits := wait(t, c, locker(t, c), "job")
	claim, last := keys(t, admin, "job").Kvs[1], time.Hour
	eventually(t, "the etcd lease of the waiter is renewed", func() bool {
		before := last
		last = left(claim)
		return last > before
	})
	must(t, first.Release(t.Context()))
	must(t, (<-waits).Release(t.Context()))
	again := acquire(t, l, "job", lock.TTL(20*time.Second), lock.NoRenew())
	if lives := left(keys(t, admin, "job").Kvs[0]) + time.Second; lives < again.Remaining() {
		t.Errorf("the etcd lease ends in %v, and the lock in %v", lives, again.Remaining())
	}
	must(t, again.Release(t.Context()))
}

// TestAKeyUnderAnotherLeaseMoves: a move of a claim to a new lease that was lost leaves the key under the lease before.
// Renewals of the new one alone would let the key expire while its holder has it.
func TestAKeyUnderAnotherLeaseMoves(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	db, l := client(t, c), locker(t, c)
	held, err := l.Acquire(t.Context(), "held", lock.TTL(5*time.Second))
	must(t, err)
	keys, err := db.Get(t.Context(), "lock:held", clientv3.WithPrefix())
	must(t, err)
	key := string(keys.Kvs[0].Key)
	before, err := db.Grant(t.Context(), 60)
	must(t, err)
	_, err = db.Put(t.Context(), key, "", clientv3.WithIgnoreValue(), clientv3.WithLease(before.ID))
	must(t, err)
	eventually(t, "the key is under a lease that its holder renews", func() bool {
		now, err := db.Get(t.Context(), key)
		must(t, errors.Join(err, held.Context().Err()))
		return now.Kvs[0].Lease != int64(before.ID)
	})
	must(t, held.Extend(t.Context()))
	must(t, held.Release(t.Context()))
}
