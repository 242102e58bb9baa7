package notify

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockscope/lockscope/scanner"
)

func TestBadInputIsRefused(t *testing.T) {
	const good = "http://127.0.0.1:1"
	for name, test := range map[string]struct {
		url  string
		opts []Option
		want error
	}{
		"empty URL":       {"", nil, ErrInvalidURL},
		"no scheme":       {"alertmanager:9093", nil, ErrInvalidURL},
		"other scheme":    {"unix:///run/am.sock", nil, ErrInvalidURL},
		"no host":         {"http:///path", nil, ErrInvalidURL},
		"only a port":     {"http://:9093", nil, ErrInvalidURL},
		"fragment":        {good + "/#x", nil, ErrInvalidURL},
		"control":         {"http://h\n/", nil, ErrInvalidURL},
		"nil option":      {good, []Option{nil}, ErrInvalidOption},
		"no timeout":      {good, []Option{WithTimeout(0)}, ErrInvalidOption},
		"retries":         {good, []Option{WithRetries(-1)}, ErrInvalidOption},
		"many retries":    {good, []Option{WithRetries(11)}, ErrInvalidOption},
		"two credentials": {good, []Option{WithBasicAuth("a", "b"), WithBearerToken("c")}, ErrInvalidOption},
		"header name":     {good, []Option{WithHeader("X Y", "z")}, ErrInvalidOption},
	} {
		if _, err := NewWebhook(test.url, test.opts...); !errors.Is(err, test.want) {
			t.Errorf("NewWebhook with %s: %v, want %v", name, err, test.want)
		}
		if _, err := NewAlertmanager([]string{good + "/first", test.url}, test.opts...); !errors.Is(err, test.want) {
			t.Errorf("NewAlertmanager with %s: %v, want %v", name, err, test.want)
		}
	}
	for name, urls := range map[string][]string{"no URL": nil, "the same twice": {good, good + "/"}} {
		if _, err := NewAlertmanager(urls); !errors.Is(err, ErrInvalidURL) {
			t.Errorf("NewAlertmanager with %s: %v, want ErrInvalidURL", name, err)
		}
	}
	for name, opt := range map[string]Option{
		"resend": WithResend(time.Millisecond), "label name": WithLabels(map[string]string{"a-b": "c"}),
		"own label": WithLabels(map[string]string{"lock": "c"}), "generator": WithGeneratorURL("here"),
		"webhook's": WithEveryReport(),
	} {
		if _, err := NewAlertmanager([]string{good}, opt); !errors.Is(err, ErrInvalidOption) {
			t.Errorf("NewAlertmanager with a bad %s: %v, want ErrInvalidOption", name, err)
		}
	}
	for name, opts := range map[string][]Option{
		"resend":               {WithResend(time.Minute)},
		"unknown format":       {WithFormat("teams")},
		"severity":             {WithSeverity(scanner.NoTTL, "critical")},
		"Slack's severity":     {WithFormat(Slack), WithSeverity(scanner.NoTTL, "critical")},
		"Slack's routing key":  {WithFormat(Slack), WithRoutingKey("k")},
		"no routing key":       {WithFormat(PagerDuty)},
		"broken routing key":   {WithFormat(PagerDuty), WithRoutingKey("a b")},
		"every PagerDuty":      {WithFormat(PagerDuty), WithRoutingKey("k"), WithEveryReport()},
		"PagerDuty's severity": {WithFormat(PagerDuty), WithRoutingKey("k"), WithSeverity(scanner.NoTTL, "page")},
	} {
		if _, err := NewWebhook(good, opts...); !errors.Is(err, ErrInvalidOption) {
			t.Errorf("NewWebhook with %s: %v, want ErrInvalidOption", name, err)
		}
	}
	if _, err := NewWebhook(good, WithFormat("teams")); !strings.Contains(err.Error(), "[lockscope slack pagerduty]") {
		t.Errorf("an unknown format: %v, want the known ones", err)
	}
	if _, err := NewAlertmanager([]string{good}, WithFormat(Slack)); !errors.Is(err, ErrInvalidOption) {
		t.Errorf("NewAlertmanager with WithFormat: %v, want ErrInvalidOption", err)
	}
}

func TestAlertOptions(t *testing.T) {
	c, err := newConfig(alertmanager, []Option{WithSeverity(scanner.NoTTL, "critical"), WithRunbookURL("")})
	must(t, err)
	now := time.Now()
	future := finding(scanner.NoTTL, "lock:a")
	future.FirstSeen = now.Add(time.Hour)
	a := c.alertFor(future, now, now)
	if a.Labels["severity"] != "critical" || a.Annotations["runbook_url"] != "" || a.StartsAt != now {
		t.Errorf("%+v", a)
	}
	if s := c.severityOf(scanner.ForeignType); s != "warning" {
		t.Errorf("severity of a foreign type is %s, want warning", s)
	}
}

func TestClip(t *testing.T) {
	long := strings.Repeat("é", 200)
	for n := 20; n < 40; n++ {
		for _, got := range []string{clip(long, n), clipUnique(long, n)} {
			if len(got) > n || !utf8.ValidString(got) || !strings.Contains(got, ellipsis) {
				t.Errorf("cut to %d: %q", n, got)
			}
		}
	}
	if clip("short", 20) != "short" || clipUnique("short", 20) != "short" {
		t.Error("what is short enough was changed")
	}
	if clipUnique(long+"a", 64) == clipUnique(long+"b", 64) {
		t.Error("different strings became the same")
	}
}

// TestAlertsTellPlacesApart: a key in two databases is two findings, and the text names the system.
func TestAlertsTellPlacesApart(t *testing.T) {
	f := scanner.Finding{Class: scanner.HeldTooLong, Backend: "postgresql", Node: "db:5432", Place: "shop", Key: "session 7"}
	other := f
	other.Place = "billing"
	if identityOf(&f) == identityOf(&other) || identityOf(&f).dedupKey() == identityOf(&other).dedupKey() {
		t.Error("one identity")
	}
	c := &config{}
	if a := c.alertFor(f, time.Now(), time.Now()); a.Labels["lock"] != "shop: session 7" ||
		a.Annotations["summary"] != "PostgreSQL lock shop: session 7 on db:5432 has had the same holder for longer than "+
			"policy allows." {
		t.Errorf("%+v", a)
	}
	f.Backend, f.Inferred = "", true
	if a := c.alertFor(f, time.Now(), time.Now()); !strings.HasSuffix(a.Annotations["summary"],
		" had the same client at each look for longer than policy allows; it may have released it in between.") {
		t.Errorf("an inference is told as a fact: %+v", a)
	}
}
