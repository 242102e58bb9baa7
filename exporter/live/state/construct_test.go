package state_test

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// TestCountSlots counts each slot of a semaphore once, however many lists have it.
func TestCountSlots(t *testing.T) {
	of := func(k int) state.Construct { return state.Construct{Kind: "semaphore", Slots: k} }
	s := state.State{
		Held: []state.Held{
			{Resource: "jobs#0", Construct: of(5)}, {Resource: "jobs#1", Construct: of(5)},
			{Resource: "jobs#1", Backend: "other", Construct: of(3)}, {Resource: "ticket#7"},
			{Resource: "leader", Construct: state.Construct{Kind: "election"}},
		},
		Blocked: []state.Blocked{
			{Resource: "jobs#1", Construct: of(5), Holder: &state.Blocker{Holder: "a"}},
			{Resource: "jobs#2", Construct: of(5), Holder: &state.Blocker{Holder: "b"}},
			{Resource: "jobs#3", Construct: of(5)}, {Resource: "jobs#*", Construct: of(5)}, // any slot
			{Resource: "jobs#4", Construct: of(5), Holder: &state.Blocker{HandedOver: true}},
		},
	}
	s.CountSlots()
	for i, want := range []int{3, 3, 1, 0, 0} {
		if got := s.Held[i].SlotsInUse; got != want {
			t.Errorf("%+v: %d slots in use, want %d", s.Held[i], got, want)
		}
	}
	for i := range s.Blocked {
		if got := s.Blocked[i].SlotsInUse; got != 3 {
			t.Errorf("%+v: %d slots in use, want 3", s.Blocked[i], got)
		}
	}
}
