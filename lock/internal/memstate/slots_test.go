package memstate

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// TestOtherSlotsHaveNoEffect: a request with another number of slots neither gets the lock nor queues, and does not
// keep the number from being forgotten.
func TestOtherSlotsHaveNoEffect(t *testing.T) {
	s := New()
	ask := func(ms int64, slots int) driver.AcquireReply {
		t.Helper()
		reply, err := at(s, ms).Acquire(driver.AcquireRequest{
			Key: "lock:a#0", Token: "t", TTL: time.Second, Waiter: driver.Waiter{ID: "w", Enqueue: true},
			Semaphore: &driver.Semaphore{Key: "lock:a", Slots: slots, Keep: time.Hour},
		})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if reply := ask(now, 2); !reply.Granted {
		t.Fatalf("%+v", reply)
	}
	late := now + time.Hour.Milliseconds()
	if reply := ask(late, 3); reply.Granted || reply.Slots != 2 || len(s.Locks) != 0 || s.Waiters() != 0 {
		t.Errorf("%+v, %d locks, %d waiters", reply, len(s.Locks), s.Waiters())
	}
	if reply := ask(late+1, 3); !reply.Granted {
		t.Errorf("the number was not forgotten: %+v", reply)
	}
}

// TestExtendKnowsTheSlots: a slot that is gone is not extended, nor put back. A node that may not vote takes no number.
func TestExtendKnowsTheSlots(t *testing.T) {
	s := New()
	extend := func(slot, slots int, votes bool) driver.ExtendReply {
		reply, err := at(s, now).Extend(driver.ExtendRequest{
			Key: "lock:a#x", Token: "t", TTL: time.Second, Refill: true, Fence: 1,
			Semaphore: &driver.Semaphore{Key: "lock:a", Slot: slot, Slots: slots, Keep: time.Hour},
		}, votes)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if got := extend(0, 9, false); got != driver.ExtendGone || len(s.slots) != 0 {
		t.Errorf("without a vote: %v, %v", got, s.slots)
	}
	if got := extend(0, 2, true); got != driver.ExtendRefilled || s.slots["lock:a"].slots != 2 {
		t.Errorf("a first extend: %v, %v", got, s.slots)
	}
	if got := extend(1, 9, true); got != driver.ExtendDone || s.slots["lock:a"].slots != 2 {
		t.Errorf("a slot that is there: %v, %v", got, s.slots)
	}
	if got := extend(2, 3, true); got != driver.ExtendNoSlot {
		t.Errorf("a slot that is gone: %v", got)
	}
}

// TestResizeReplacesWhatItNames and what is unknown, and nothing else.
func TestResizeReplacesWhatItNames(t *testing.T) {
	for _, c := range []struct{ known, from, to, want int }{
		{0, 2, 3, 3}, {2, 2, 3, 3}, {3, 2, 3, 3}, {4, 2, 3, 4}, {2, 0, 0, 2}, {0, 0, 0, 0},
	} {
		s := New()
		if c.known != 0 {
			s.slots["lock:a"] = slotCount{c.known, now + 1}
		}
		got := at(s, now).Resize(driver.ResizeRequest{Key: "lock:a", From: c.from, To: c.to, Keep: time.Hour})
		if int(got) != c.known || s.slots["lock:a"].slots != c.want {
			t.Errorf("%+v: replied %d, has %d", c, got, s.slots["lock:a"].slots)
		}
	}
}
