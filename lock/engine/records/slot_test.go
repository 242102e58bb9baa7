package records

import (
	"slices"
	"testing"

	"github.com/lockscope/lockscope/lock"
)

func TestParseSlot(t *testing.T) {
	for resource, want := range map[string]struct {
		semaphore string
		slot      int
	}{
		"jobs#0": {"jobs", 0}, "jobs#99": {"jobs", 99}, "a#b#7": {"a#b", 7},
		"jobs": {}, "jobs#": {}, "jobs#100": {}, "jobs#-1": {}, "jobs#01": {}, "jobs#+1": {}, "#1": {}, "jobs#x": {}, "": {},
	} {
		semaphore, slot, ok := ParseSlot(resource)
		if semaphore != want.semaphore || slot != want.slot || ok != (want.semaphore != "") {
			t.Errorf("ParseSlot(%q) = %q, %d, %v, want %+v", resource, semaphore, slot, ok, want)
		}
	}
}

func TestSlotsOf(t *testing.T) {
	three := []string{"jobs#0", "jobs#1", "jobs#2"}
	for _, c := range []struct {
		resource string
		of       Construct
		want     []string
	}{
		{"jobs#1", Construct{Kind: lock.KindSemaphore, Slots: 3}, three},
		{"jobs", Construct{Kind: lock.KindSemaphore, Slots: 3}, three},
		{"jobs#*", Construct{Kind: lock.KindSemaphore, Slots: 3}, three},
		{"jobs#*", Construct{Kind: lock.KindSemaphore, Slots: 1}, three[:1]},
		{"jobs#*", Construct{}, nil},
		{"jobs#1", Construct{Kind: lock.KindSemaphore, Slots: 1}, nil},
		{"jobs#1", Construct{Kind: lock.KindSemaphore, Slots: MaxSlots + 1}, nil},
		{"jobs#1", Construct{Kind: lock.KindSet, Slots: 3}, nil},
		{"jobs#1", Construct{}, nil},
	} {
		if got := SlotsOf(c.resource, c.of); !slices.Equal(got, c.want) {
			t.Errorf("SlotsOf(%q, %+v) = %q, want %q", c.resource, c.of, got, c.want)
		}
	}
}

func FuzzParseSlot(f *testing.F) {
	f.Add("import#3", 5)
	f.Add("import#*", 5)
	f.Add("#1#099", -1)
	f.Add("a#+1", 1)
	f.Fuzz(func(t *testing.T, resource string, slots int) {
		name, slot, ok := ParseSlot(resource)
		if ok && (SlotName(name, slot) != resource || name == "" || slot < 0 || slot >= MaxSlots) {
			t.Fatalf("ParseSlot(%q) = %q, %d", resource, name, slot)
		}
		all := SlotsOf(resource, Construct{lock.KindSemaphore, slots})
		if len(all) > MaxSlots || len(all) != 0 && len(all) != slots {
			t.Fatalf("SlotsOf(%q, %d) has %d slots", resource, slots, len(all))
		}
	})
}

// TestSemaphoreOf: a slot and the queue for any slot are of one semaphore.
func TestSemaphoreOf(t *testing.T) {
	for resource, want := range map[string]string{
		"jobs#3": "jobs", "jobs#*": "jobs", "jobs": "", "#*": "", "jobs#03": "", "a#*#1": "a#*",
	} {
		if got, ok := SemaphoreOf(resource); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", resource, got, ok)
		}
	}
}
