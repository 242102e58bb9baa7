package memstate

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

const prices = "lock:prices"

func reads(t *testing.T, s *Instant, token string, ttl time.Duration) {
	t.Helper()
	reply, err := s.Acquire(driver.AcquireRequest{Key: prices, Token: token, TTL: ttl, Mode: driver.Read})
	if err != nil || !reply.Granted {
		t.Fatalf("%+v, %v", reply, err)
	}
}

func waitsToWrite(t *testing.T, s *Instant, id string) driver.AcquireReply {
	t.Helper()
	reply, err := s.Acquire(driver.AcquireRequest{Key: prices, Token: "t" + id, TTL: time.Minute, Mode: driver.Write,
		Bar: 10 * time.Second, Waiter: driver.Waiter{ID: id, Enqueue: true}})
	if err != nil || reply.Granted {
		t.Fatalf("%+v, %v", reply, err)
	}
	return reply
}

// TestLostReaderWaitsForTheWriter: a reader that a node has lost is not put back where a writer waits for its place.
func TestLostReaderWaitsForTheWriter(t *testing.T) {
	s := New()
	instant := at(s, now)
	reads(t, instant, "other", time.Minute)
	refill := driver.ExtendRequest{Key: prices, Token: "lost", TTL: time.Minute, Refill: true, Fence: 7, Mode: driver.Read}
	if got, _ := instant.Extend(refill, false); got != driver.ExtendGone {
		t.Errorf("on a node that may not vote: %v", got)
	}
	waitsToWrite(t, instant, "w")
	if got, _ := instant.Extend(refill, true); got != driver.ExtendGone {
		t.Errorf("while a writer waits: %v", got)
	}
	if got, _ := instant.Extend(driver.ExtendRequest{Key: prices, Token: "other", TTL: time.Minute, Mode: driver.Read},
		true); got != driver.ExtendDone {
		t.Errorf("a reader that is there: %v", got)
	}
	instant.Leave(driver.LeaveRequest{Key: prices, WaiterID: "w", Mode: driver.Write})
	if got, _ := instant.Extend(refill, true); got != driver.ExtendRefilled || len(s.Readers(prices)) != 2 {
		t.Errorf("after that: %v", got)
	}
}

// TestABarExpires by itself, each at its own time.
func TestABarExpires(t *testing.T) {
	s := New()
	reads(t, at(s, now), "other", time.Minute)
	waitsToWrite(t, at(s, now), "w1")
	waitsToWrite(t, at(s, now+5000), "w2")
	for after, want := range map[int64]int{6000: 2, 11_000: 1, 16_000: 0} {
		if got := at(s.Clone(), now+after).Bars(); got != want {
			t.Errorf("%d bars after %d ms, want %d", got, after, want)
		}
	}
}

// TestOneWaiterOrAllReadersAreNamed, and a writer only once nobody reads.
func TestOneWaiterOrAllReadersAreNamed(t *testing.T) {
	s := New()
	var heard []string
	instant := s.At(now*1000, func(waiter, _ string) int { heard = append(heard, waiter); return 1 })
	reads(t, instant, "a", time.Minute)
	reads(t, instant, "b", time.Minute)
	waitsToWrite(t, instant, "w")
	for i, id := range []string{"r1", "r2"} {
		_, _ = instant.Acquire(driver.AcquireRequest{Key: prices, Token: "t" + id, TTL: time.Minute, Mode: driver.Read,
			Waiter: driver.Waiter{ID: id, Enqueue: true, Ticket: now*1000 + int64(i) + 1}})
	}
	release := func(token string, mode driver.Mode) bool {
		return instant.Release(driver.ReleaseRequest{Key: prices, Token: token, Handoff: time.Minute, Mode: mode}).Named
	}
	if release("a", driver.Read) || len(heard) != 0 {
		t.Errorf("%v are named while somebody reads", heard)
	}
	if !release("b", driver.Read) || len(heard) != 1 || heard[0] != "w" {
		t.Errorf("%v are named", heard)
	}
	reply, err := instant.Acquire(driver.AcquireRequest{Key: prices, Token: "tw", TTL: time.Minute, Mode: driver.Write,
		Waiter: driver.Waiter{ID: "w"}})
	if err != nil || !reply.Granted {
		t.Fatal(reply, err)
	}
	if !release("tw", driver.Write) || len(heard) != 3 || s.Reserved() != 1 {
		t.Errorf("%v are named, %d reservations", heard, s.Reserved())
	}
	if reply, _ := instant.Acquire(driver.AcquireRequest{Key: prices, Token: "new", TTL: time.Minute,
		Mode: driver.Write}); !reply.Reserved {
		t.Errorf("a writer that was not named: %+v", reply)
	}
}
