package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// watched is a node that records its requests, and fails on order.
type watched struct {
	driver.BlockingNode

	mu       sync.Mutex
	extends  []driver.ExtendRequest
	releases []driver.ReleaseRequest
	extend   error // fails every extend, which is then not carried out
	release  error // fails the next release, which is then not carried out
}

func (n *watched) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	n.mu.Lock()
	n.extends = append(n.extends, req)
	err := n.extend
	n.mu.Unlock()
	if err != nil {
		return driver.ExtendGone, err
	}
	return n.BlockingNode.Extend(ctx, req)
}

func (n *watched) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	n.mu.Lock()
	n.releases = append(n.releases, req)
	err := n.release
	n.release = nil
	n.mu.Unlock()
	if err != nil {
		return driver.ReleaseReply{}, err
	}
	return n.BlockingNode.Release(ctx, req)
}

// watchedNodes runs f in fake time on an engine with n such nodes.
func watchedNodes(t *testing.T, n int, f func(t *testing.T, e *engine.Engine, nodes []*watched)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var nodes []*watched
		var drivers []driver.Node
		for i := range n {
			s := locktest.NewFakeServer(string(rune('a' + i)))
			defer s.Close()
			w := &watched{BlockingNode: s.Connect(1, locktest.Faults{})}
			nodes, drivers = append(nodes, w), append(drivers, engine.Async(w))
		}
		e, err := engine.NewEngine(drivers)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		f(t, e, nodes)
	})
}

// TestALostLeaseIsGivenBack: nodes that had forgotten the lease took it back in the round that lost it. Without a
// release nobody could have the lock for a TTL.
func TestALostLeaseIsGivenBack(t *testing.T) {
	inProcess(t, func(p *process) {
		lease := p.call().served()
		p.nodes[0].Forget()
		p.nodes[1].Forget()
		if err := lease.Extend(p.t.Context()); !errors.Is(err, lock.ErrLost) {
			t.Fatalf("extend: %v", err)
		}
		synctest.Wait()
		if p.isHeld() {
			t.Error("nobody has the lock, and nobody gets it")
		}
	})
}

// TestExtendsAskForARefill where others vote. The request has the fence of the lease, which a Peek reads from a node that
// took the lease back, and the last fence of the grant's run, from which such a node counts on.
func TestExtendsAskForARefill(t *testing.T) {
	for _, n := range []int{1, 3} {
		watchedNodes(t, n, func(t *testing.T, e *engine.Engine, nodes []*watched) {
			first := mustAcquire(t, t.Context(), e, "job")
			next := make(chan lock.Lease)
			for range 2 {
				go func() {
					lease, _ := e.Acquire(t.Context(), "job")
					next <- lease
				}()
				synctest.Wait()
			}
			if err := first.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			lease := <-next
			if err := lease.Extend(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			for _, req := range nodes[0].extends {
				if req.Refill != (n > 1) || req.Fence != lease.Fence() || req.Last <= req.Fence {
					t.Errorf("%d nodes: refill %v, fence %d of a run to %d; want %d",
						n, req.Refill, req.Fence, req.Last, lease.Fence())
				}
			}
			last := nodes[0].extends[0].Last
			_ = lease.Release(t.Context())
			lease = <-next
			_ = lease.Release(t.Context())
			if after := mustAcquire(t, t.Context(), e, "job"); after.Fence() <= last {
				t.Errorf("%d nodes: fence %d of the run that ends with %d", n, after.Fence(), last)
			}
		})
	}
}

// TestANodeThatDoesNotAnswerAnExtend may carry it out late. The release leaves a tombstone on that node, and on no
// other.
func TestANodeThatDoesNotAnswerAnExtend(t *testing.T) {
	for err, want := range map[error]bool{driver.ErrTimeout: true, driver.ErrNotSent: false} {
		watchedNodes(t, 3, func(t *testing.T, e *engine.Engine, nodes []*watched) {
			lease := mustAcquire(t, t.Context(), e, "job")
			nodes[1].extend = err
			if err := lease.Extend(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			for i, n := range nodes {
				if got := n.releases[0].Tombstone > 0; got != (want && i == 1) {
					t.Errorf("%v of node b: node %d has a tombstone: %v", err, i, got)
				}
			}
		})
	}
}

// TestANodeThatTookALeaseBack is asked to release it until it answers.
func TestANodeThatTookALeaseBack(t *testing.T) {
	watchedNodes(t, 3, func(t *testing.T, e *engine.Engine, nodes []*watched) {
		lease := mustAcquire(t, t.Context(), e, "job")
		token := ""
		if err := lease.Extend(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		token = nodes[1].extends[0].Token
		req := driver.ReleaseRequest{Key: "lock:job", Token: token}
		if _, err := nodes[1].BlockingNode.Release(t.Context(), req); err != nil { // the node forgets it
			t.Fatal(err)
		}
		if err := lease.Extend(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		nodes[1].release = driver.ErrTimeout
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if asked := len(nodes[1].releases); asked != 2 {
			t.Errorf("asked %d times to release, want 2", asked)
		}
	})
}

// TestAnUnknownRenewalIsTriedAgainSoon: if a majority is back in time, the lease goes on.
func TestAnUnknownRenewalIsTriedAgainSoon(t *testing.T) {
	inProcess(t, func(p *process) {
		lease := p.call().served()
		p.nodes.NoQuorum()
		time.Sleep(lock.DefaultTTL/3 + lock.DefaultTTL/100)
		p.nodes.Recover()
		time.Sleep(lock.DefaultTTL / 10)
		synctest.Wait()
		if left := lease.Remaining(); left < lock.DefaultTTL*8/10 {
			t.Errorf("%v left, and the nodes have answered again for a second", left)
		}
	})
}
