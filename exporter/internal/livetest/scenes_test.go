package livetest_test

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/internal/livetest"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// TestScenes are what their names say.
func TestScenes(t *testing.T) {
	first := func(s state.State) state.Blocked { return s.Blocked[0] }
	held := func(s state.State) bool { return len(s.Blocked) > 0 && first(s).Holder != nil }
	lost := func(s state.State) bool { return s.Sets[len(s.Sets)-1].NoQuorum }
	is := map[string]func(state.State) bool{
		"contention":       func(s state.State) bool { return len(s.Blocked) == 4 && held(s) && len(first(s).Chain) == 1 },
		"deadlock":         func(s state.State) bool { return len(s.Deadlocks) == 1 && !s.Deadlocks[0].Over },
		"lost-lease":       func(s state.State) bool { return held(s) && first(s).Holder.Unrenewed != nil },
		"crowd":            func(s state.State) bool { return held(s) && first(s).Waiting == livetest.Waiters },
		"node-hung":        func(s state.State) bool { return held(s) && s.Sets[0].Voting == 4 && !lost(s) },
		"two-of-five-down": func(s state.State) bool { return held(s) && s.Sets[0].Voting == 3 && !lost(s) },
		"no-quorum":        func(s state.State) bool { return s.Sets[0].Nodes == 3 && lost(s) && !held(s) },
		"three-of-five-hung": func(s state.State) bool {
			return s.Sets[0].Nodes == 5 && lost(s) && first(s).ByClass["no_quorum"] == first(s).Waiting
		},
		"no-traffic":   func(s state.State) bool { return len(s.Blocked)+len(s.Held) == 0 && len(s.Nodes) == 5 },
		"two-backends": func(s state.State) bool { return held(s) && len(s.Sets) == 2 && s.Sets[0].NoQuorum && !lost(s) },
	}
	for _, scene := range livetest.Scenes() {
		t.Run(scene.Name, func(t *testing.T) {
			if s := scene.State(t); !is[scene.Name](s) {
				t.Errorf("it is another: %+v", s)
			}
		})
	}
}
