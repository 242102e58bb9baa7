package notify

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestFailoverIsNoOtherFinding: another master of the cluster has the leaked key from now on, and until it is healed
// that is one alert and one post.
func TestFailoverIsNoOtherFinding(t *testing.T) {
	const cluster = "cluster:redis-1:6379"
	am, hook := newTarget(t), newTarget(t)
	a, w := newAlertmanager(t, Alertmanager{URLs: []string{am.URL}}), newWebhook(t, Webhook{URL: hook.URL})
	found := registry.New(10)
	found.Note(registry.Entry{Finding: finding(inspect.NoTTL, "lock:a"), Facts: registry.Facts{Source: cluster, Identity: "x"}})
	leak := found.On("127.0.0.1:6379")[0]
	var first map[string]string
	report := func(node string, ended bool) {
		t.Helper()
		r := reportOf()
		r.Findings, _, r.Resolved = found.Lists()
		must(t, a.Notify(t.Context(), r))
		must(t, w.Notify(t.Context(), r))
		got := decode[[]alert](t, am)[0]
		if first == nil {
			first = got.Labels
		}
		if !maps.Equal(got.Labels, first) || first["lock_node"] != cluster || got.EndsAt.After(time.Now()) == ended ||
			!strings.Contains(got.Annotations["summary"], node) {
			t.Errorf("on %s: %+v, want labels %v, and the end %v", node, got, first, ended)
		}
	}
	report("127.0.0.1:6379", false)
	found.Begin()
	found.Rehome(cluster, func(*registry.Entry) string { return "redis-2:6379" })
	report("redis-2:6379", false)
	if n := len(hook.got()); n != 1 {
		t.Errorf("%d posts of one leak that moved", n)
	}
	found.Settle(leak, *leak, false)
	report("redis-2:6379", true)
	if n := len(hook.got()); n != 2 {
		t.Errorf("%d posts, want one more when it is healed", n)
	}
}

// TestMovedAndLeakedAgain: a healed leak of a cluster does not end the alert of the next leak of its key.
func TestMovedAndLeakedAgain(t *testing.T) {
	of := func(node string) report.Finding {
		e := registry.Entry{Finding: finding(inspect.NoTTL, "lock:a"), Facts: registry.Facts{Source: "cluster"}}
		e.Node = node
		return e.Sealed()
	}
	r := reportOf(of("redis-2:6379"))
	r.Resolved = []report.Finding{of("redis-1:6379")}
	if m := newMessage(r); len(m.Resolved) != 0 || len(r.Resolved) != 1 {
		t.Errorf("%+v is resolved", m.Resolved)
	}
}
