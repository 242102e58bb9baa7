package memlock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/internal/memstate"
)

// inNode runs f in fake time on one node.
func inNode(t *testing.T, f func(t *testing.T, n *Node, l *link)) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNodes(1)[0]
		l := n.connect(n.name)
		defer l.Close()
		f(t, n, l)
	})
}

var wanted = driver.AcquireRequest{Key: "lock:a", Token: "t1", TTL: time.Minute}

// TestWhatWasGivenUpTakesEffectLate: once the node resumes, or at once if it already has.
func TestWhatWasGivenUpTakesEffectLate(t *testing.T) {
	inNode(t, func(t *testing.T, n *Node, l *link) {
		n.Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.Acquire(ctx, wanted); !errors.Is(err, driver.ErrTimeout) {
			t.Fatalf("acquire: %v", err)
		}
		if len(n.state.Locks) != 0 {
			t.Error("a frozen node grants")
		}
		n.Thaw()
		if len(n.state.Locks) != 1 {
			t.Error("what had piled up is gone")
		}
		late := false
		if n.arriveLate(func(*memstate.Instant) { late = true }); !late {
			t.Error("what comes late to a node that runs has no effect")
		}
	})
}

func TestADenialOutweighsAFreeze(t *testing.T) {
	inNode(t, func(t *testing.T, n *Node, l *link) {
		n.Freeze()
		n.Deny(driver.ErrUnreachable)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.Acquire(ctx, wanted); !errors.Is(err, driver.ErrUnreachable) {
			t.Errorf("acquire: %v", err)
		}
		n.Thaw()
	})
}

// TestWhatWasRevokedDoesNotComeBack with a renewal.
func TestWhatWasRevokedDoesNotComeBack(t *testing.T) {
	inNode(t, func(t *testing.T, n *Node, l *link) {
		if reply, err := l.Acquire(t.Context(), wanted); err != nil || !reply.Granted {
			t.Fatal(reply, err)
		}
		n.lose("lock:a", time.Minute)
		reply, err := l.Extend(t.Context(), driver.ExtendRequest{Key: "lock:a", Token: "t1", TTL: time.Minute,
			Refill: true, Fence: 1})
		if err != nil || reply != driver.ExtendGone || len(n.state.Locks) != 0 {
			t.Errorf("extend: %v, %v", reply, err)
		}
	})
}

// TestCloseWaitsForWakeUps, and none follows.
func TestCloseWaitsForWakeUps(t *testing.T) {
	inNode(t, func(t *testing.T, n *Node, l *link) {
		woken := 0
		if err := l.Subscribe(t.Context(), "w1", func(string) { time.Sleep(time.Second); woken++ }); err != nil {
			t.Fatal(err)
		}
		publish := func(waiter string) int {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.publish(waiter, "lock:a")
		}
		if publish("w2") != 0 || publish("w1") != 1 {
			t.Error("who listens is not known")
		}
		if _ = l.Close(); woken != 1 {
			t.Error("a wake-up is still under way")
		}
		if publish("w1") != 0 {
			t.Error("it listens after Close")
		}
	})
}

// TestLeasesThatEndedAreForgotten, and are never taken for leases that are held.
func TestLeasesThatEndedAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := New(NewNodes(1))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		lease, err := l.Acquire(t.Context(), "a")
		if err != nil || l.leaseOn("a") != lease {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if len(l.leases) != 0 {
			t.Error("a lease that ended is remembered")
		}
		if l.leases[lease] = struct{}{}; l.leaseOn("a") != nil {
			t.Error("a lease that ended is taken for one that is held")
		}
	})
}
