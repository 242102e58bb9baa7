package registry

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

func leak(key, identity string, seen time.Time) Entry {
	return Entry{
		Finding: report.Finding{Class: inspect.NoTTL, Node: "a", Key: key, FirstSeen: seen, LastSeen: seen},
		Facts:   Facts{Source: "a", Identity: identity},
	}
}

// TestAnotherValueIsAnotherFinding: a key that was taken anew is not the leak of before, which is resolved.
func TestAnotherValueIsAnotherFinding(t *testing.T) {
	r, began := New(10), time.Unix(100, 0)
	r.Note(leak("lock:1", "x", began))
	first := r.On("a")[0]
	r.Settle(first, *first, true)
	r.Begin()
	r.Note(leak("lock:1", "x", began.Add(time.Minute)))
	confirmed, pending, resolved := r.Lists()
	if len(confirmed) != 1 || !confirmed[0].FirstSeen.Equal(began) || len(pending)+len(resolved) != 0 {
		t.Errorf("the same value: %+v, %+v, %+v", confirmed, pending, resolved)
	}
	r.Begin()
	r.Note(leak("lock:1", "y", began.Add(time.Hour)))
	confirmed, pending, resolved = r.Lists()
	if len(confirmed) != 0 || len(pending) != 1 || !pending[0].FirstSeen.Equal(began.Add(time.Hour)) ||
		len(resolved) != 1 || !resolved[0].FirstSeen.Equal(began) {
		t.Errorf("another value: %+v, %+v, %+v", confirmed, pending, resolved)
	}
}

// TestFindingsBeyondTheLimit are counted, each of them.
func TestFindingsBeyondTheLimit(t *testing.T) {
	r := New(1)
	for _, key := range []string{"lock:1", "lock:2", "lock:3"} {
		r.Note(leak(key, "x", time.Unix(100, 0)))
	}
	if n := r.Omitted()["a"][inspect.NoTTL]; n != 2 {
		t.Errorf("%d of three leaks are beyond a limit of one", n)
	}
}
