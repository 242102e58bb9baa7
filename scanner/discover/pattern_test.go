package discover

import "testing"

// TestSlotsAreNoPattern: slots of a semaphore are no reason for a pattern of their own.
func TestSlotsAreNoPattern(t *testing.T) {
	for _, c := range []struct {
		want string
		keys []string
	}{
		{"lock:*", []string{"lock:exports#0", "lock:exports#1", "lock:exports#4"}},
		{"lock:*", []string{"lock:exports#0", "lock:exports#1", "lock:mails"}},
		{"exports#*", []string{"exports#0", "exports#1"}},
		{"ticket#*", []string{"ticket#1001", "ticket#1002"}},
		{"order:*", []string{"order:1", "order:2"}},
	} {
		if got := patternOf(c.keys); got != c.want {
			t.Errorf("%q: %s, want %s", c.keys, got, c.want)
		}
	}
}
