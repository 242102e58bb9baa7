package notify

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestEachReportRepeatsItsAlerts, since Alertmanager forgets what is not repeated.
func TestEachReportRepeatsItsAlerts(t *testing.T) {
	s := newTarget(t)
	a := newAlertmanager(t, Alertmanager{URLs: []string{s.URL}, Interval: time.Hour})
	must(t, a.Notify(t.Context(), reportOf()))
	if len(s.got()) != 0 {
		t.Error("a request without an alert")
	}
	for i := range 2 {
		must(t, a.Notify(t.Context(), reportOf(leaks(3)...)))
		all := decode[[]alert](t, s)
		if len(s.got()) != i+1 || len(all) != 3 || time.Until(all[0].EndsAt).Round(time.Minute) != holdIntervals*time.Hour {
			t.Fatalf("%d requests, the last with %+v", len(s.got()), all)
		}
	}
}

// TestResolvedAlertsEnd at once, and those of the leaks beside them do not.
func TestResolvedAlertsEnd(t *testing.T) {
	s := newTarget(t)
	a := newAlertmanager(t, Alertmanager{URLs: []string{s.URL}, Interval: time.Hour})
	all := leaks(2)
	r := reportOf(all[:1]...)
	r.Resolved = all[1:]
	must(t, a.Notify(t.Context(), r))
	for _, alert := range decode[[]alert](t, s) {
		ended, leaks := !alert.EndsAt.After(time.Now()), alert.Labels["lock"] == all[0].Key
		if ended == leaks {
			t.Errorf("%v ends at %v", alert.Labels, alert.EndsAt)
		}
	}
}

// TestAlertsNameThePolicy and its team, by which they are routed. A lock without a policy has the team of all alerts.
func TestAlertsNameThePolicy(t *testing.T) {
	s := newTarget(t)
	a := newAlertmanager(t, Alertmanager{URLs: []string{s.URL}, Labels: map[string]string{"team": "platform"}})
	all := leaks(2)
	all[0].Policy, all[0].Team = "billing", "payments"
	must(t, a.Notify(t.Context(), reportOf(all...)))
	for _, alert := range decode[[]alert](t, s) {
		policy, named := alert.Labels["lock_policy"]
		if want := alert.Labels["lock"] == all[0].Key; named != want || named && policy != "billing" ||
			alert.Labels["team"] != map[bool]string{true: "payments", false: "platform"}[want] {
			t.Errorf("%v", alert.Labels)
		}
	}
}

// TestManyLeaksAreOneAlert with their number, and one that ends with them.
func TestManyLeaksAreOneAlert(t *testing.T) {
	s := newTarget(t)
	a := newAlertmanager(t, Alertmanager{URLs: []string{s.URL}, Severity: map[inspect.Class]string{inspect.NoTTL: "page"}})
	many := append(leaks(2990), finding(inspect.Orphan, "lock:o"))
	for i := range many {
		many[i].Group = "orders"
	}
	r := reportOf(many...)
	r.Overflow = 9
	must(t, a.Notify(t.Context(), r))
	all := decode[[]alert](t, s)
	if len(all) != 1 {
		t.Fatalf("%d alerts", len(all))
	}
	first := all[0]
	if first.Annotations["summary"] != "3000 findings of at least 2991 locks in group orders." || first.Labels["severity"] != "page" ||
		!strings.Contains(first.Annotations["description"], "2990 no_ttl, 1 orphan") || first.Labels["lock_group"] != "orders" ||
		!first.StartsAt.Equal(seen) {
		t.Errorf("%+v", first)
	}
	few := reportOf(many[:2]...)
	few.Resolved = many[2:]
	must(t, a.Notify(t.Context(), few))
	all = decode[[]alert](t, s)
	last := all[len(all)-1]
	if len(all) != 2+most+1 || len(last.Labels) != len(first.Labels) || last.EndsAt.After(time.Now()) {
		t.Errorf("%d alerts, the last %+v: want the end of the one of all", len(all), last)
	}
	for name, value := range first.Labels {
		if last.Labels[name] != value {
			t.Errorf("label %s is %q, was %q", name, last.Labels[name], value)
		}
	}
}

// TestTheAlertOfManyNamesTheServers: what ends for one scanner goes on for another with servers of the same group.
func TestTheAlertOfManyNamesTheServers(t *testing.T) {
	s := newTarget(t)
	a := newAlertmanager(t, Alertmanager{URLs: []string{s.URL}})
	of := func(r report.Report, servers ...string) map[string]string {
		r.Servers = servers
		must(t, a.Notify(t.Context(), r))
		all := decode[[]alert](t, s)
		return all[len(all)-1].Labels
	}
	part, few := reportOf(leaks(30)...), reportOf()
	few.Resolved = leaks(1)
	first, other := of(part, "redis-1", "redis-2"), of(few, "redis-3")
	if maps.Equal(first, other) {
		t.Errorf("two scanners have one alert: %v", first)
	}
	part.Nodes[0].Node = "10.0.0.9:6379" // another master of the same cluster
	if again := of(part, "redis-1", "redis-2"); !maps.Equal(first, again) {
		t.Errorf("labels were %v, are %v", first, again)
	}
	if end := of(few, "redis-1", "redis-2"); !maps.Equal(first, end) {
		t.Errorf("labels were %v, and at the end %v", first, end)
	}
}

// TestManyFindingsMayBeFewLocks: each node of a Redlock has a finding of its own.
func TestManyFindingsMayBeFewLocks(t *testing.T) {
	var all []report.Finding
	for i := range 5 {
		for _, f := range leaks(5) {
			f.Node = fmt.Sprint("redis-", i)
			all = append(all, f)
		}
	}
	s := newTarget(t)
	a := newAlertmanager(t, Alertmanager{URLs: []string{s.URL}})
	r := reportOf(all...)
	for overflow, want := range map[int]string{0: "25 findings of 5 locks.", 3: "28 findings of at least 5 locks."} {
		r.Overflow = overflow
		must(t, a.Notify(t.Context(), r))
		if got := decode[[]alert](t, s)[0].Annotations["summary"]; got != want {
			t.Errorf("summary %q, want %q", got, want)
		}
	}
}

// TestClusterOfAlertmanagers has one member that is down, one that refuses and one that takes alerts.
func TestClusterOfAlertmanagers(t *testing.T) {
	const down = "http://127.0.0.1:1"
	var log bytes.Buffer
	refuses, takes := newTarget(t, 403), newTarget(t)
	refuses.answer = "no T0KEN-secret here"
	c := Alertmanager{URLs: []string{down, refuses.URL, takes.URL}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Access: Access{BearerToken: "T0KEN-secret"}}
	must(t, newAlertmanager(t, c).Notify(t.Context(), reportOf(leaks(1)...)))
	if text := log.String(); !strings.Contains(text, refuses.URL+" after 1 attempts: answered 403") ||
		!strings.Contains(text, down) || strings.Contains(text, "T0KEN") || strings.Count(text, "\n") != 2 {
		t.Errorf("log: %s", text)
	}
	c.URLs = c.URLs[:2]
	err := newAlertmanager(t, c).Notify(t.Context(), reportOf(leaks(1)...))
	if err == nil || !strings.Contains(err.Error(), down) || !strings.Contains(err.Error(), "answered 403") {
		t.Errorf("%v, want what both said", err)
	}
	if len(takes.got()) != 1 || len(refuses.got()) != 2 {
		t.Errorf("%d and %d requests", len(takes.got()), len(refuses.got()))
	}
}

func TestBadConfigurationIsRefused(t *testing.T) {
	const good = "http://127.0.0.1:1"
	for name, url := range map[string]string{
		"empty URL": "", "no scheme": "alertmanager:9093", "other scheme": "unix:///run/am.sock", "no host": "http:///path",
		"only a port": "http://:9093", "fragment": good + "/#x", "control": "http://h\n/",
	} {
		_, webhook := NewWebhook(Webhook{URL: url})
		_, alerts := NewAlertmanager(Alertmanager{URLs: []string{good, url}})
		if webhook == nil || alerts == nil || !strings.Contains(alerts.Error(), "URL 2") {
			t.Errorf("%s: %v, %v", name, webhook, alerts)
		}
	}
	for name, c := range map[string]Alertmanager{
		"no URL": {}, "interval": {URLs: []string{good}, Interval: time.Millisecond},
		"label name": {URLs: []string{good}, Labels: map[string]string{"a-b": "c"}},
		"own label":  {URLs: []string{good}, Labels: map[string]string{"lock": "c"}},
		"two ways":   {URLs: []string{good}, Access: Access{Username: "u", BearerToken: "t"}},
		"line break": {URLs: []string{good}, Access: Access{BearerToken: "t\n"}},
	} {
		if _, err := NewAlertmanager(c); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestAlertsTellPlacesApart: a key in two databases is two findings, and the text names the system.
func TestAlertsTellPlacesApart(t *testing.T) {
	f := report.Finding{Class: inspect.HeldTooLong, Backend: "postgresql", Node: "db:5432", Place: "shop", Key: "session 7"}
	other := f
	other.Place = "billing"
	inferred := f
	inferred.Backend, inferred.Inferred, inferred.Key = "", true, "session 8"
	inferred.FirstSeen = time.Now().Add(time.Hour) // of another clock
	s := newTarget(t)
	must(t, newAlertmanager(t, Alertmanager{URLs: []string{s.URL}}).Notify(t.Context(), reportOf(f, other, inferred)))
	all := decode[[]alert](t, s)
	if all[0].Labels["lock"] != "shop: session 7" || all[1].Labels["lock"] != "billing: session 7" ||
		all[0].Annotations["summary"] !=
			"PostgreSQL lock shop: session 7 on db:5432 has had the same holder for longer than policy allows." {
		t.Errorf("%+v", all[:2])
	}
	if !strings.HasSuffix(all[2].Annotations["summary"], "it may have released it in between.") ||
		all[2].StartsAt.After(time.Now()) {
		t.Errorf("an inference is told as a fact, or starts later: %+v", all[2])
	}
}

func TestClip(t *testing.T) {
	long := strings.Repeat("é", 200)
	for n := 20; n < 40; n++ {
		if got := clip(long, n); len(got) > n || valid(got) != got || !strings.Contains(got, "…#") {
			t.Errorf("cut to %d: %q", n, got)
		}
	}
	if clip("short", 20) != "short" || clip(long+"a", 64) == clip(long+"b", 64) {
		t.Error("what is short was changed, or different strings became the same")
	}
}
