package nodes

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestRestartIsToldWhileItMatters, in the JSON that pages read.
func TestRestartIsToldWhileItMatters(t *testing.T) {
	began := time.Unix(1e9, 0)
	told := func(n *Nodes, after time.Duration) string {
		text, err := json.Marshal(n.Health(began.Add(after))[0].Restart)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var n Nodes
	n.Restarted(began, locktrace.NodeRestart{Node: "a", Witnessed: true, Left: time.Minute, Enforced: true})
	for after, want := range map[time.Duration]string{
		12 * time.Second: `{"noticed_seconds":12,"witnessed":true,"left_seconds":48,"enforced":true}`,
		time.Minute:      `null`,
	} {
		if got := told(&n, after); got != want {
			t.Errorf("after %v: %s, want %s", after, got, want)
		}
	}
	n.Restarted(began, locktrace.NodeRestart{Node: "a", Left: 10 * time.Second})
	if got, want := told(&n, 0),
		`{"noticed_seconds":0,"witnessed":false,"left_seconds":10,"enforced":false}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	n.Restarted(began, locktrace.NodeRestart{Node: "a", Left: 10 * time.Second, Evicted: true})
	if got, want := told(&n, 0),
		`{"noticed_seconds":0,"evicted":true,"witnessed":false,"left_seconds":10,"enforced":false}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	n.Restarted(began, locktrace.NodeRestart{Node: "a", Witnessed: true})
	if got := told(&n, 0); got != "null" {
		t.Errorf("a restart that cannot matter is told: %s", got)
	}
	text, err := json.Marshal(n.Health(began)[0])
	if err != nil || strings.Contains(string(text), "restart") {
		t.Errorf("%s, %v", text, err)
	}
}

// TestVoteEndsSilence: a silent node that grants a lock was vouched for. A node that votes although it forgot is still
// reported.
func TestVoteEndsSilence(t *testing.T) {
	now := time.Unix(1e9, 0)
	vote := func(op lock.Operation, v lock.Verdict) locktrace.NodeEnd {
		return locktrace.NodeEnd{NodeStart: locktrace.NodeStart{Node: "a", Op: op}, Verdict: v}
	}
	for _, c := range []struct {
		enforced bool
		end      locktrace.NodeEnd
		told     bool
	}{
		{true, vote(lock.OpAcquire, lock.VerdictGranted), false},
		{true, vote(lock.OpAcquire, lock.VerdictRefused), true},
		{true, vote(lock.OpRelease, lock.VerdictGranted), true},
		{false, vote(lock.OpAcquire, lock.VerdictGranted), true},
	} {
		var n Nodes
		n.Restarted(now, locktrace.NodeRestart{Node: "a", Witnessed: true, Left: time.Minute, Enforced: c.enforced})
		n.Done(now, c.end)
		if got := n.Health(now)[0].Restart != nil; got != c.told {
			t.Errorf("%+v: told: %v", c, got)
		}
		want := state.NodeUp
		if c.enforced && c.told {
			want = state.NodeQuarantined
		}
		if h := n.Health(now)[0]; h.State != want || h.Up != (want == state.NodeUp) {
			t.Errorf("%+v: the node is %s, up: %v; want %s", c, h.State, h.Up, want)
		}
	}
}
