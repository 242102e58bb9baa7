package records

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

func TestWaitingSurvivesTheRoundTrip(t *testing.T) {
	w := Waiting{
		Holder: lock.Holder{Instance: "checkout-1/4242", Since: time.UnixMilli(1763700000123), CallSite: "a/b.go:1",
			Page: "http://10.0.0.7/debug/locks"},
		Callers: 3,
		Backend: "redis",
		Holds: []lock.HeldLease{{Resource: "order:1001", Fence: 1 << 52},
			{Resource: "a|b c", Fence: 2, Backend: "postgresql"}},
	}
	if got, err := ParseWaiting(string(w.Append(nil))); err != nil || !reflect.DeepEqual(got, w) {
		t.Errorf("ParseWaiting(%q) = %+v, %v", w.Append(nil), got, err)
	}
	w.Holds = make([]lock.HeldLease, MaxHolds+5)
	for i := range w.Holds {
		w.Holds[i] = lock.HeldLease{Resource: strings.Repeat("x", lock.MaxResourceLength), Fence: uint64(i)}
	}
	if got, err := ParseWaiting(string(w.Append(nil))); err != nil || len(got.Holds) != MaxHolds {
		t.Errorf("%d leases, %v; want %d", len(got.Holds), err, MaxHolds)
	}
}

// TestKindOfAWaiter: records of earlier versions have no kind, and their readers ignore it.
func TestKindOfAWaiter(t *testing.T) {
	at := time.UnixMilli(1763700000123)
	for record, want := range map[string]Waiting{
		"a|1763700000123||2|x.go:1|http://p": {Holder: lock.Holder{CallSite: "x.go:1", Page: "http://p"}},
		"a|1763700000123||2|||redis":         {Backend: "redis"},
		"a|1763700000123||2|||election":      {Backend: "election"},
		"a|1763700000123||2||||election":     {Holder: lock.Holder{Kind: lock.KindElection}},
		"a|1763700000123||2|||redis|semaphore:5": {Holder: lock.Holder{Kind: lock.KindSemaphore, Slots: 5},
			Backend: "redis"},
		"a|1763700000123||2|||redis|a kind of the future|another": {Backend: "redis"},
		"a|1763700000123||2|||redis|set|a field of the future": {Holder: lock.Holder{Kind: lock.KindSet},
			Backend: "redis"},
	} {
		want.Instance, want.Since, want.Callers = "a", at, 2
		if got, err := ParseWaiting(record); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseWaiting(%q) = %+v, %v, want %+v", record, got, err, want)
		}
	}
	record := string(Waiting{
		Holder: lock.Holder{Instance: "a", Since: at, Kind: lock.KindSemaphore, Slots: 5}, Callers: 2, Backend: "redis",
		Holds: []lock.HeldLease{{Resource: "b", Fence: 7}},
	}.Append(nil))
	first, rest, _ := strings.Cut(record, "\n")
	if fields := strings.SplitN(first, "|", 8); len(fields) != 8 || fields[6] != "redis" || rest != "7 b" {
		t.Errorf("a reader of seven fields reads %q, then %q", fields, rest)
	}
}

func FuzzWaiting(f *testing.F) {
	f.Add("host/1|1763700000123|00-abc-def-01|2|a.go:1|http://p\n17 order:1")
	f.Add("|0||1||\n\n x")
	f.Add("a|1||1\n17 order:1\tb|c\td")
	f.Add("a|1||1||||x|y")
	f.Add("a|1||-3")
	f.Add("a|1||1||||semaphore:5")
	f.Fuzz(func(t *testing.T, record string) {
		w, err := ParseWaiting(record)
		if err != nil {
			return
		}
		if again, err := ParseWaiting(string(w.Append(nil))); err != nil || !reflect.DeepEqual(again, w) {
			t.Fatalf("ParseWaiting(%q) = %+v, read again %+v, %v", record, w, again, err)
		}
	})
}
