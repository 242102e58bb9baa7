package clock

import (
	"testing"
	"time"
)

// TestClockCountsSuspension: the monotonic clock stands still for an hour, the boot-time clock does not.
func TestClockCountsSuspension(t *testing.T) {
	var running, suspended time.Duration
	looks := 0
	c := &clock{
		monotonic: func() time.Duration { return running },
		boot:      func() time.Duration { looks++; return time.Minute + running + suspended },
		booted:    time.Minute,
	}
	last := c.read()
	at := func(what string, want time.Duration) {
		t.Helper()
		got := c.read()
		if got < last || got != want {
			t.Errorf("%s: %v after %v, want %v", what, got, last, want)
		}
		last = got
	}
	running = 100 * time.Microsecond
	at("a moment later", running)
	suspended = time.Hour
	at("just after the suspension", running)
	running += checkSuspension
	at("a millisecond after the suspension", running+time.Hour)
	before := looks
	for range 9 {
		running += checkSuspension / 10
		at("running", running+time.Hour)
	}
	if looks != before {
		t.Errorf("the boot-time clock was read %d times within a millisecond", looks-before)
	}
	suspended -= time.Minute // as a misreading would make it
	running += checkSuspension
	at("a reading that goes back", running+time.Hour)
}

// TestClocksOfThisMachine: neither clock goes back, and they agree while the machine is not suspended.
func TestClocksOfThisMachine(t *testing.T) {
	began := time.Now()
	clock := New()
	made := time.Now() // later than the clock's zero: the machine may have run others between the two
	last := clock()
	for time.Since(began) < 20*time.Millisecond {
		before := time.Since(made)
		now := clock()
		if now < last {
			t.Fatalf("%v after %v", now, last)
		}
		if last = now; now > time.Since(began)+time.Millisecond || now < before-time.Millisecond {
			t.Fatalf("%v after %v to %v", now, before, time.Since(began))
		}
	}
}
