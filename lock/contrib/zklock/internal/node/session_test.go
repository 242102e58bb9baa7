package node_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/zktest"
	"github.com/lockscope/lockscope/lock/driver"
)

// TestSessionsOutliveLocks, whatever the ensemble's tick: of a sign of life the leader may not know, by a heartbeat of
// the client and one of the servers.
func TestSessionsOutliveLocks(t *testing.T) {
	for ttl := time.Millisecond; ttl < time.Hour; ttl = ttl*5/4 + 1 {
		for tick := time.Millisecond; tick < time.Minute; tick = tick*5/4 + 1 {
			session := min(max(zklock.SessionFor(ttl), 2*tick), 20*tick) // which an ensemble makes of it
			if lives, known := zklock.LongestTTL(session), session-session/3-tick/2; lives > known {
				t.Errorf("a session of %v, which may end after %v with ticks of %v, is said to live for %v", session,
					known, tick, lives)
			}
			if session == zklock.SessionFor(ttl) && zklock.LongestTTL(session) <= ttl {
				t.Errorf("a session of %v is too short for a lock of %v", session, ttl)
			}
		}
	}
}

// TestSyncWhereASessionMayHaveEnded: who has waited for long asks the leader whether the session lives. Who has not
// knows.
func TestSyncWhereASessionMayHaveEnded(t *testing.T) {
	var now atomic.Int64
	syncs := &zktest.Requests{Kind: zktest.Syncs}
	n := connect(t, zktest.Start(t), syncs.Dial, func() time.Duration { return time.Duration(now.Load()) })
	const ttl = time.Second
	slack := zklock.LongestTTL(zktest.Session) - ttl
	tokens := 0
	ask := func(waiter driver.Waiter) (string, driver.AcquireReply) {
		t.Helper()
		tokens++
		token := fmt.Sprintf("%032x", tokens)
		reply, err := n.Acquire(t.Context(),
			driver.AcquireRequest{Key: "a", Token: token, TTL: ttl, Floor: 1, Waiter: waiter})
		if err != nil {
			t.Fatal(err)
		}
		return token, reply
	}
	for _, c := range []struct {
		waited time.Duration
		syncs  int64
	}{{0, 0}, {slack, 0}, {slack + 1, 1}} {
		first, _ := ask(driver.Waiter{})
		_, waits := ask(driver.Waiter{Enqueue: true})
		if waits.Granted {
			t.Fatal("granted to two")
		}
		if _, err := n.Release(t.Context(), driver.ReleaseRequest{Key: "a", Token: first}); err != nil {
			t.Fatal(err)
		}
		now.Add(int64(c.waited))
		before := syncs.Count.Load()
		second, granted := ask(driver.Waiter{Ticket: waits.Ticket})
		if got := syncs.Count.Load() - before; !granted.Granted || got != c.syncs {
			t.Errorf("after %v: %+v with %d syncs, want %d", c.waited, granted, got, c.syncs)
		}
		if _, err := n.Release(t.Context(), driver.ReleaseRequest{Key: "a", Token: second}); err != nil {
			t.Fatal(err)
		}
	}
}
