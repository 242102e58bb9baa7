package notify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/notify/alertmanagertest"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestAlertLifetime follows one finding through a real Alertmanager. The alert appears, later reports extend it beyond
// its first end, and it is resolved.
func TestAlertLifetime(t *testing.T) {
	am := alertmanagertest.Start(t)
	a := newAlertmanager(t, Alertmanager{URLs: []string{am.URL() + "/"}, Interval: time.Second,
		Labels: map[string]string{"team": "payments", "instance": "scanner-1"}})
	leak := finding(inspect.NoTTL, "lock:order:1001")
	must(t, a.Notify(t.Context(), reportOf(leak)))

	alertmanagertest.Await(t, "the alert is listed", func() bool { return len(am.Alerts(t)) == 1 })
	first := am.Alerts(t)[0]
	for name, want := range map[string]string{
		"alertname": "DistributedLockLeaked", "severity": "warning", "lock_node": "127.0.0.1:6379", "class": "no_ttl",
		"lock": "lock:order:1001", "team": "payments", "instance": "scanner-1",
	} {
		if got := first.Labels[name]; got != want {
			t.Errorf("label %s = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"summary": "lock:order:1001", "description": "billing-7", "evidence": "TTL -1",
		"runbook_url": "/DistributedLockLeaked.md",
	} {
		if got := first.Annotations[name]; !strings.Contains(got, want) {
			t.Errorf("annotation %s = %q, want %q in it", name, got, want)
		}
	}
	if !first.StartsAt.Equal(seen) {
		t.Errorf("starts at %v, want %v", first.StartsAt, seen)
	}

	alertmanagertest.Await(t, "time has passed the end that the first report gave", func() bool {
		must(t, a.Notify(t.Context(), reportOf(leak)))
		if n := len(am.Alerts(t)); n != 1 {
			t.Fatalf("%d alerts are listed while the finding lasts, want 1", n)
		}
		return time.Now().After(first.EndsAt)
	})
	if got := am.Received(); len(got) != 1 || got[0].Status != "firing" {
		t.Fatalf("the receiver was told %v while the alert lasts, want firing once", got)
	}

	must(t, a.Notify(t.Context(), report.Report{Resolved: []report.Finding{leak}}))
	alertmanagertest.Await(t, "the alert is listed no more", func() bool { return len(am.Alerts(t)) == 0 })
	alertmanagertest.Await(t, "the receiver is told that it is resolved", func() bool {
		return slices.ContainsFunc(am.Received(), func(n alertmanagertest.Notification) bool {
			return n.Status == "resolved" && n.Labels["lock"] == "lock:order:1001"
		})
	})
}

// TestRealAlertmanagerTakesAnyKey sends keys that could break the encoding, and keys that differ only after the cut.
func TestRealAlertmanagerTakesAnyKey(t *testing.T) {
	am := alertmanagertest.Start(t)
	a := newAlertmanager(t, Alertmanager{URLs: []string{am.URL()}})
	long := "lock:" + strings.Repeat("é", 1000)
	keys := []string{"lock:\x00\xff\n\"\\", "lock:<script>{{ .Labels }}", long + "a", long + "b", "\x1b[31m", ""}
	var findings []report.Finding
	for _, key := range keys {
		f := finding(inspect.NoTTL, key)
		f.Hold.Instance = key
		findings = append(findings, f)
	}
	for _, class := range []inspect.Class{inspect.LongTTL, inspect.HeldTooLong, inspect.Orphan, inspect.ForeignType} {
		findings = append(findings, finding(class, "lock:same"))
	}
	must(t, a.Notify(t.Context(), reportOf(findings...)))
	alertmanagertest.Await(t, "every finding is an alert", func() bool { return len(am.Alerts(t)) == len(findings) })
	for _, alert := range am.Alerts(t) {
		if lock := alert.Labels["lock"]; len(lock) > maxLabel || inspect.KeyText(lock) != lock &&
			!strings.HasPrefix(lock, `"`) {
			t.Errorf("label lock is %q", lock)
		}
	}
}
