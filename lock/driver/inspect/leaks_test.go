package inspect_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// TestLookKeepsWhatIsLookedFor and hides what any of its unread parts may have.
func TestLookKeepsWhatIsLookedFor(t *testing.T) {
	r := &inspect.Rules{Classes: []inspect.Class{inspect.NoTTL}}
	var l inspect.Look
	l.Add(r, inspect.Leak{Class: inspect.NoTTL, Key: "a"}, "%d days", 3)
	l.Add(r, inspect.Leak{Class: inspect.Orphan, Key: "b"}, "")
	if len(l.Leaks) != 1 || l.Leaks[0].Evidence != "3 days" || l.Hides != nil {
		t.Errorf("%+v", l)
	}
	l.Hide(func(l *inspect.Leak) bool { return l.Key == "a" })
	l.Hide(func(l *inspect.Leak) bool { return l.Key == "b" })
	for key, want := range map[string]bool{"a": true, "b": true, "c": false} {
		if l.Hides(&inspect.Leak{Key: key}) != want {
			t.Errorf("%s: hidden is %v", key, !want)
		}
	}
}

// TestTooLong has limits of its own for leaders, and none for a holder that does not say since when.
func TestTooLong(t *testing.T) {
	now := time.Now()
	r := &inspect.Rules{MaxHold: time.Hour}
	for _, c := range []struct {
		h    lock.Holder
		want bool
	}{
		{lock.Holder{Since: now.Add(-61 * time.Minute)}, true},
		{lock.Holder{Since: now.Add(-59 * time.Minute)}, false},
		{lock.Holder{}, false},
		{lock.Holder{Since: now.Add(-61 * time.Minute), Kind: lock.KindElection}, false},
	} {
		if _, _, got := r.TooLong(&c.h, now); got != c.want {
			t.Errorf("%+v: %v", c.h, got)
		}
	}
}

// TestLibraryIsCounted once for each pattern.
func TestLibraryIsCounted(t *testing.T) {
	var l inspect.Libraries
	for _, f := range []inspect.Library{{Name: "a", Pattern: "x", Keys: 1, Example: "2"}, {Name: "a", Pattern: "y", Keys: 1},
		{Name: "a", Pattern: "x", Keys: 2, NoTTL: 1, Example: "1"}} {
		l.Add(f)
	}
	if len(l.Found) != 2 || l.Found[0].Keys != 3 || l.Found[0].NoTTL != 1 || l.Found[0].Example != "1" {
		t.Errorf("%+v", l.Found)
	}
}

func TestUnsafe(t *testing.T) {
	if err := inspect.Unsafe("%d children", 2); !errors.Is(err, inspect.ErrUnsafe) || err.Error() != "2 children" {
		t.Error(err)
	}
}
