package serve

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestTwoSetsWithOneName: two services hold a lock of the same name, each on its own three nodes, and wait for it. One
// set loses its quorum: four of the six nodes vote, which says nothing.
func TestTwoSetsWithOneName(t *testing.T) {
	t.Parallel()
	orders, billing := locktest.Servers(t, 3), locktest.Servers(t, 3)
	for name, set := range map[string][]*redisproc.Server{"orders": orders, "billing": billing} {
		l := cmdtest.LockingProcess(t, name, set)
		cmdtest.Hold(t, l, "cron")
		cmdtest.Queue(t, l, t.Context(), "cron")
	}
	addresses := func(set []*redisproc.Server) (all []string) {
		for _, s := range set {
			all = append(all, fmt.Sprintf("%q", s.Addr()))
		}
		return all
	}
	url, _ := serving(t, "--config", cmdtest.ConfigFile(t, fmt.Sprintf("groups:\n- {name: orders, redlock: true, redis: [%s]}\n"+
		"- {name: billing, redlock: true, redis: [%s]}\n", strings.Join(addresses(orders), ", "), strings.Join(addresses(billing), ", "))))

	sets := func(sets []state.NodeSet) (all []string) {
		for _, s := range sets {
			all = append(all, fmt.Sprintf("%s: %d of %d vote, lost %v", s.Backend, s.Voting, s.Nodes, s.NoQuorum))
		}
		return all
	}
	var doc state.State
	want := []string{"orders: 3 of 3 vote, lost false", "billing: 3 of 3 vote, lost false"}
	cmdtest.Eventually(t, "both locks and their queues are shown", func() bool {
		doc = stateOf(t, url)
		return len(doc.Held) == 2 && len(doc.Blocked) == 2 && slices.Equal(sets(doc.Sets), want)
	})
	for _, h := range doc.Held {
		if !strings.HasPrefix(h.Holder, h.Backend) {
			t.Errorf("on %s, %s holds %s", h.Backend, h.Holder, h.Resource)
		}
	}
	for _, b := range doc.Blocked {
		if !strings.HasPrefix(b.Holder.Holder, b.Backend) || b.Listed != 1 {
			t.Errorf("on %s, %s blocks %d, of whom %d are listed", b.Backend, b.Holder.Holder, b.Waiting, b.Listed)
		}
	}
	for _, s := range orders[:2] {
		cmdtest.Must(t, s.Kill())
	}
	want[0] = "orders: 1 of 3 vote, lost true"
	cmdtest.Eventually(t, "one set has lost its quorum", func() bool {
		doc = stateOf(t, url)
		return slices.Equal(sets(doc.Sets), want) && strings.Contains(doc.Unread, "orders: ")
	})
	for _, w := range doc.Waiting {
		if class := map[string]string{"orders": "no_quorum", "billing": "holder"}[w.Backend]; w.Class != class {
			t.Errorf("callers on %s wait because of %q, want %q", w.Backend, w.Class, class)
		}
	}
}
