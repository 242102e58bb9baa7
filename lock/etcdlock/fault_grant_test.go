package etcdlock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
)

// TestGrantAnsweredInALaterTerm: a leader grants an etcd lease and stands still. The member that was asked applies an
// entry of the next leader before it answers, so that the answer is of the next term. The former leader comes back and
// revokes the etcd lease. It must not end a lock that was renewed meanwhile.
func TestGrantAnsweredInALaterTerm(t *testing.T) {
	t.Parallel()
	c := cluster(t, 3)
	var armed atomic.Bool
	granter := new(atomic.Pointer[etcdproc.Member]) // stands still
	config := clientv3.Config{
		Endpoints: c.Endpoints(), DialTimeout: 2 * time.Second, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any,
			conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
		) error {
			err := invoke(ctx, method, req, reply, conn, opts...)
			if granted, ok := reply.(*etcdserverpb.LeaseGrantResponse); ok && err == nil && armed.CompareAndSwap(true, false) {
				granted.Header.RaftTerm = standStill(t, c, granter)
			}
			return err
		})},
	}
	client, err := clientv3.New(config)
	must(t, err)
	defer client.Close()
	holder, err := etcdlock.New(client, lock.WithNodeTimeout(5*time.Second))
	must(t, err)
	defer func() { must(t, holder.Close()) }()
	other := locker(t, c)

	// The former leader revokes 16 leases at a time. It asks the next leader to revoke those behind.
	for range 40 {
		_, err := client.Grant(t.Context(), 20)
		must(t, err)
	}
	armed.Store(true)
	began := time.Now()
	held, err := holder.Acquire(context.Background(), "held", lock.TTL(20*time.Second), lock.MaxWait(waitTime))
	must(t, err)
	eventually(t, "the etcd lease that was granted is over", func() bool { return time.Since(began) > 22*time.Second })
	resumeAlone(t, c, granter.Load())
	for end := time.Now().Add(16 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		lease, err := other.Acquire(t.Context(), "held", lock.NoWait(), lock.TTL(faultTTL))
		if left := held.Remaining(); err == nil && left > 0 {
			t.Fatalf("granted with fence %d while another had it for %v more", lease.Fence(), left)
		} else if err == nil {
			must(t, lease.Release(t.Context()))
		}
	}
	if err := held.Release(t.Context()); err != nil && !errors.Is(err, lock.ErrLost) {
		t.Error(err)
	}
}

// standStill pauses the leader, and returns the term of the next one.
func standStill(t *testing.T, c *etcdproc.Cluster, paused *atomic.Pointer[etcdproc.Member]) (term uint64) {
	former, err := c.Leader(context.Background())
	if err != nil {
		t.Error(err)
		return 0
	}
	if err := former.Pause(); err != nil {
		t.Error(err)
	}
	paused.Store(former)
	eventually(t, "another member leads", func() bool {
		next, err := c.Leader(context.Background())
		if err != nil || next == former {
			return false
		}
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{next.Endpoint()}, Logger: zap.NewNop()})
		if err != nil {
			return false
		}
		defer client.Close()
		status, err := client.Status(context.Background(), next.Endpoint())
		if err == nil {
			term = status.Header.RaftTerm
		}
		return err == nil
	})
	return term
}

// resumeAlone lets a former leader take itself for the leader, until it has found the leases that it knows over.
func resumeAlone(t *testing.T, c *etcdproc.Cluster, former *etcdproc.Member) {
	t.Helper()
	for _, m := range c.Members {
		if m != former {
			must(t, m.Pause())
		}
	}
	must(t, former.Resume())
	time.Sleep(700 * time.Millisecond) // etcd looks for such leases twice a second
	for _, m := range c.Members {
		if m != former {
			must(t, m.Resume())
		}
	}
}
