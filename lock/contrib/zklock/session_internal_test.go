package zklock

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// TestSessionsOutliveLocks, whatever the ensemble's tick: of a sign of life the leader may not know, by a heartbeat of
// the client and one of the servers.
func TestSessionsOutliveLocks(t *testing.T) {
	for ttl := time.Millisecond; ttl < time.Hour; ttl = ttl*5/4 + 1 {
		for tick := time.Millisecond; tick < time.Minute; tick = tick*5/4 + 1 {
			session := min(max(SessionFor(ttl), 2*tick), 20*tick) // which an ensemble makes of it
			if lives, known := LongestTTL(session), session-session/3-tick/2; lives > known {
				t.Errorf("a session of %v, which may end after %v with ticks of %v, is said to live for %v", session,
					known, tick, lives)
			}
			if session == SessionFor(ttl) && LongestTTL(session) <= ttl {
				t.Errorf("a session of %v is too short for a lock of %v", session, ttl)
			}
		}
	}
}

// requests counts those of a kind that go to a server.
type requests struct {
	kind  uint32
	count atomic.Int64
}

type counted struct {
	net.Conn
	*requests
}

func (r *requests) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, timeout)
	return counted{conn, r}, err
}

// Write is called with one request at a time: length, number, kind, four bytes each.
func (c counted) Write(b []byte) (int, error) {
	if len(b) >= 12 && binary.BigEndian.Uint32(b[8:]) == c.kind {
		c.count.Add(1)
	}
	return c.Conn.Write(b)
}

// TestSyncWhereASessionMayHaveEnded: who has waited for long asks the leader whether the session lives. Who has not
// knows.
func TestSyncWhereASessionMayHaveEnded(t *testing.T) {
	var now atomic.Int64
	syncs := &requests{kind: 9}
	n := connectBy(t, startServer(t).Addrs(), syncs.dial, func() time.Duration { return time.Duration(now.Load()) })
	const ttl = time.Second
	slack := LongestTTL(n.link.allowed()) - ttl
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
		before := syncs.count.Load()
		second, granted := ask(driver.Waiter{Ticket: waits.Ticket})
		if got := syncs.count.Load() - before; !granted.Granted || got != c.syncs {
			t.Errorf("after %v: %+v with %d syncs, want %d", c.waited, granted, got, c.syncs)
		}
		if _, err := n.Release(t.Context(), driver.ReleaseRequest{Key: "a", Token: second}); err != nil {
			t.Fatal(err)
		}
	}
}
