package holders

import (
	"fmt"
	"testing"
	"time"
)

// TestALockThatIsSeenFirstFindsRoom: the holders of all other locks change from round to round, and there are more of them
// than room. When a round sees this lock, it cannot know yet which of those it remembers have changed.
func TestALockThatIsSeenFirstFindsRoom(t *testing.T) {
	const others, room = 120, 100
	w, now := NewWatch(room, NewDigest()), time.Unix(1e9, 0)
	var first time.Time
	for round := range 60 {
		w.Begin("a", now)
		for k := range others + 1 {
			l := Look{Node: "a", Key: fmt.Sprint(k), Identity: fmt.Sprint(round, k), Distinct: PerLease, At: now, TTL: time.Minute}
			if k == 0 {
				l.Identity = "lasting"
			}
			if k == 0 && round < 10 {
				continue // by then the room is full of those that are seen last
			}
			if seen := w.Note(l); k == 0 {
				first = seen.First
			}
		}
		w.EndRound("a")
		if len(w.seen) > room || len(w.refused) > 0 {
			t.Fatalf("round %d: %d remembered, and %d more", round, len(w.seen), len(w.refused))
		}
		now = now.Add(time.Minute)
	}
	if held := now.Sub(first); first.IsZero() || held < 10*time.Minute {
		t.Errorf("first seen at %v, %v before the end of 50 rounds", first, held)
	}
}

// TestLastingLocksKeepTheirRoom: only a lock that was seen once makes room for others.
func TestLastingLocksKeepTheirRoom(t *testing.T) {
	const others, room, lasting = 150, 100, 30
	w, now := NewWatch(room, NewDigest()), time.Unix(1e9, 0)
	since := make(map[int]time.Time) // of those that were seen twice
	for round := range 40 {
		w.Begin("a", now)
		note := func(key, identity string) Observed {
			return w.Note(Look{Node: "a", Key: key, Identity: identity, Distinct: PerLease, At: now, TTL: time.Minute})
		}
		for k := range others {
			note(fmt.Sprint("other", k), fmt.Sprint(round, k))
		}
		for k := range lasting {
			seen := note(fmt.Sprint("lasting", k), fmt.Sprint("l", k))
			if first, twice := since[k]; twice && !seen.First.Equal(first) {
				t.Fatalf("round %d: lock %d is remembered since %v, not %v", round, k, seen.First, first)
			}
			if !seen.First.IsZero() && seen.First.Before(now) {
				since[k] = seen.First
			}
		}
		w.EndRound("a")
		now = now.Add(time.Minute)
	}
	if len(since) < lasting/2 {
		t.Errorf("%d of %d locks were ever seen twice", len(since), lasting)
	}
}
