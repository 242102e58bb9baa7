package memstate

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// at is the state at a millisecond, with all waiters listening.
func at(s *State, ms int64) *Instant {
	return s.At(ms*1000, func(string, string) int { return 1 })
}

const now = 1_800_000_000_000

// TestEverythingExpires a millisecond after its TTL, as in Redis.
func TestEverythingExpires(t *testing.T) {
	s := New()
	acquire := func(ms int64, token, waiter string) driver.AcquireReply {
		t.Helper()
		reply, err := at(s, ms).Acquire(driver.AcquireRequest{
			Key: "lock:a", Token: token, TTL: time.Minute,
			Waiter: driver.Waiter{ID: waiter, Enqueue: waiter != "", Record: waiter},
		})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if !acquire(now, "t1", "").Granted || acquire(now, "t2", "w1").Granted || acquire(now, "t3", "w2").Granted {
		t.Fatal("who came first has the lock")
	}
	at(s, now).Release(driver.ReleaseRequest{Key: "lock:a", Token: "t1", Tombstone: 2 * time.Second,
		Handoff: time.Second})
	for _, c := range []struct {
		what string
		left func() int
		at   time.Duration
	}{
		{"reservation", s.Reserved, time.Second},
		{"tombstone", func() int { return len(s.tombs) }, 2 * time.Second},
		{"what w1 and w2 say", func() int { return len(s.saying) }, entryTTL},
		{"queue", s.Waiters, queueTTL},
	} {
		end := now + c.at.Milliseconds()
		if at(s, end); c.left() == 0 {
			t.Errorf("%s: gone too early", c.what)
		}
		if at(s, end+1); c.left() != 0 {
			t.Errorf("%s: still there", c.what)
		}
	}
	if !acquire(now+queueTTL.Milliseconds()+2, "t4", "").Granted || len(s.Locks) != 1 {
		t.Error("nobody is in front, and the lock is not granted")
	}
	if at(s, now+2*queueTTL.Milliseconds()); len(s.Locks) != 0 {
		t.Error("the lock is still there")
	}
}

// TestAVouchIsSaidAgain by the same act, and by another one after an interruption.
func TestAVouchIsSaidAgain(t *testing.T) {
	s := New()
	vouch := func(ms int64, nonce string, want int) {
		t.Helper()
		m := Marked{State: "quarantine", Fingerprint: "f", RunID: "r", DB: "0", Nonce: nonce, LengthMS: 1000}
		if code, marker := at(s, ms).Mark(m); code != want || marker != s.Marker {
			t.Errorf("%s after %d ms: %d, want %d; %q", nonce, ms-now, code, want, marker)
		}
	}
	vouch(now, "vouch-1", 0)
	vouch(now+1, "vouch-1", 0)
	vouch(now+2, "vouch-2", -1)
	vouch(now+1+vouchLasts/1000, "vouch-2", 0)
	s.Marker = "quarantine|f|r|0|change-1.1|1000|0|0" // leases of the old nodes may be valid
	vouch(now+2+vouchLasts/1000, "vouch-2", -1)
}

// TestAQuarantineOfAChangeOutlivesARestart: leases that the old nodes granted can be valid, for the longer of both MaxTTLs.
func TestAQuarantineOfAChangeOutlivesARestart(t *testing.T) {
	s := New()
	for old, want := range map[string]string{
		"change-q.1|9000|1|1": "change-n.1800000000000000|9000|0|0",
		"change-q.1|10|1|1":   "change-n.1800000000000000|1000|0|0",
		"q.1|9000|1|1":        "n.1800000000000000|9000|0|0",
	} {
		s.Marker = "quarantine|f|before|0|" + old
		code, marker, left := at(s, now).AskQuarantine(Asked{Fingerprint: "f", RunID: "r", DB: "0", LengthMS: 1000, Nonce: "n"})
		if length := number(strings.Split(want, "|")[1]); code != 0 || marker != "quarantine|f|r|0|"+want || left != length {
			t.Errorf("%s: %d, %q, %d left", old, code, marker, left)
		}
	}
}
