package live_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/memlock"
)

// outage is a Board on which three callers wait for order and two for stock, on five nodes of which some froze a while
// ago.
func outage(t *testing.T, frozen int, ago time.Duration) state.State {
	nodes := memlock.NewNodes(5)
	board := newBoard(t)
	l, other := newMemory(t, board, nodes, "orders/1"), newMemory(t, board, nodes, "orders/2")
	for range 5 {
		must(t, acquire(t, l, "order").Release(t.Context()))
		settle(200 * time.Millisecond)
	}
	settle(time.Second)
	for _, n := range nodes[:frozen] {
		n.Freeze()
	}
	ctx, cancel := context.WithCancel(t.Context())
	acquireAsync(ctx, l, "order")
	acquireAsync(ctx, l, "order")
	acquireAsync(ctx, other, "order")
	acquireAsync(ctx, l, "stock")
	acquireAsync(ctx, other, "stock")
	settle(ago)
	s := stateOf(board)
	cancel()
	for _, n := range nodes {
		n.Thaw()
	}
	settle(5 * time.Second)
	return s
}

// TestNoQuorum: the cause is told once, for the set of nodes. Each resource says only how many got no quorum; those
// that queue behind such a caller in their process included.
func TestNoQuorum(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := outage(t, 3, 21*time.Second)
		if len(s.Sets) != 1 || !s.Sets[0].NoQuorum || s.Sets[0].Voting != 2 || s.Sets[0].Quorum != 3 ||
			len(s.Sets[0].Down) != 3 || s.Sets[0].Since == nil || *s.Sets[0].Since < 19 || *s.Sets[0].Since > 21 {
			t.Fatalf("sets %+v", s.Sets)
		}
		for _, row := range s.Blocked {
			want := map[string]int{"no_quorum": map[string]int{"order": 3, "stock": 2}[row.Resource]}
			if !maps.Equal(row.ByClass, want) || row.Holder != nil {
				t.Errorf("%s waits %v behind %+v, want %v", row.Resource, row.ByClass, row.Holder, want)
			}
			if !strings.Contains(row.Votes, " refused, 3 did not answer (") || strings.Count(row.Votes, "mem1") != 1 {
				t.Errorf("%s: the nodes did %q", row.Resource, row.Votes)
			}
		}
		if r := s.Totals.Recent; r.Stalled < 20.9 || r.Stalled > 21.1 {
			t.Errorf("in 21 s nobody acquired anything; it says %+v", r)
		}
		if len(s.Stalls) != 1 || s.Stalls[0].Took != s.Totals.Recent.Stalled {
			t.Errorf("stalls %+v", s.Stalls)
		}
	})
}

// TestANodeToSpare: with two of five nodes down everybody is served, and the set says so.
func TestANodeToSpare(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := outage(t, 2, 21*time.Second)
		if len(s.Sets) != 1 || s.Sets[0].NoQuorum || s.Sets[0].Voting != 3 || s.Sets[0].Since != nil ||
			len(s.Sets[0].Down) != 2 {
			t.Errorf("sets %+v", s.Sets)
		}
		for _, row := range s.Blocked {
			if row.ByClass["no_quorum"] > 0 || row.ByClass["holder"] != row.Waiting {
				t.Errorf("%s waits %v", row.Resource, row.ByClass)
			}
		}
	})
}
