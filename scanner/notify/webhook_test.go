package notify

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/scanner"
)

func TestWebhookDocument(t *testing.T) {
	s := newTarget(t)
	w := newWebhook(t, s.URL+"/hook", WithInstance("cron"))
	r := report(finding(scanner.NoTTL, "lock:a"), finding(scanner.LongTTL, "lock:\xff\n"))
	r.Findings[1].TTL = 90 * 1e9
	r.Resolved = []scanner.Finding{finding(scanner.Orphan, `"quoted"`)}
	r.Overflow = 4
	r.Nodes = append(r.Nodes, scanner.NodeReport{Node: "b:6379", Err: errors.New("connection refused")})
	must(t, w.Notify(t.Context(), r))

	got := s.got()
	if len(got) != 1 || got[0].path != "/hook" || got[0].header.Get("Content-Type") != "application/json" {
		t.Fatalf("requests: %+v", got)
	}
	want := `{"schema":1,"instance":"cron","started":"2026-11-02T10:00:00Z","took_seconds":1.5,"standby":false,` +
		`"truncated":true,"overflow":4,"omitted":0,` +
		`"complete":false,"gaps":[],"skipped":[],"nodes":[{"node":"127.0.0.1:6379","took_seconds":0,` +
		`"locks":3,"examined":10,"calls":2,"unread":0,"unwatched":0,"counts":{"no_ttl":2},"path":"script",` +
		`"truncated":false,"redirected":0,"indistinct":0,"overflow":0},` +
		`{"node":"b:6379","took_seconds":0,"locks":0,"examined":0,"calls":0,"unread":0,"unwatched":0,"counts":{},` +
		`"truncated":false,"error":"connection refused","redirected":0,"indistinct":0,"overflow":0}],` +
		`"findings":[` + documentOf("no_ttl", "lock:a", "lock:a", "null") + `,` +
		documentOf("long_ttl", `"lock:\xff\n"`, "lock:\xff\n", "90") + `],` +
		`"pending":[],"resolved":[` + documentOf("orphan", `"\"quoted\""`, `"quoted"`, "null") + `]}`
	if string(got[0].body) != want {
		t.Errorf("got  %s\nwant %s", got[0].body, want)
	}
}

func documentOf(class, text, key, ttl string) string {
	encoded := `"key_base64":"` + base64.StdEncoding.EncodeToString([]byte(key)) + `",`
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"class":%q,"node":"127.0.0.1:6379","key":%s,%s"type":"string","ttl_seconds":%s,`+
		`"holder":{"format":"lockscope","name":"billing-7","since":"2026-11-02T10:00:00Z",`+
		`"fence":"1152921504606846977"},"evidence":"TTL -1 in two looks 5s apart",`+
		`"first_seen":"2026-11-02T10:00:00Z","last_seen":"2026-11-02T10:00:05Z"}`,
		class, quoted, encoded, ttl)
}

func TestWebhookKeepsSilent(t *testing.T) {
	s := newTarget(t)
	standby := report(finding(scanner.NoTTL, "lock:a"))
	standby.Standby = true
	must(t, newWebhook(t, s.URL).Notify(t.Context(), report()))
	must(t, newWebhook(t, s.URL, WithEveryReport()).Notify(t.Context(), standby))
	must(t, newAlertmanager(t, []string{s.URL}).Notify(t.Context(), standby))
	must(t, newAlertmanager(t, []string{s.URL}).Notify(t.Context(), report()))
	if got := s.got(); len(got) != 0 {
		t.Fatalf("%d requests, want none", len(got))
	}
	must(t, newWebhook(t, s.URL, WithEveryReport()).Notify(t.Context(), report()))
	if got := s.got(); len(got) != 1 || !strings.Contains(string(got[0].body),
		`"findings":[],"pending":[],"resolved":[]`) {
		t.Errorf("with WithEveryReport: %s", got)
	}
}

// TestWebhookBounds: neither many findings nor a huge key make a huge document.
func TestWebhookBounds(t *testing.T) {
	s := newTarget(t)
	huge := finding(scanner.NoTTL, strings.Repeat("\xff", 10<<20))
	huge.Evidence = strings.Repeat("e", 10<<20)
	findings := []scanner.Finding{huge}
	for i := range 5000 {
		findings = append(findings, finding(scanner.NoTTL, fmt.Sprintf("lock:%d", i)))
	}
	must(t, newWebhook(t, s.URL).Notify(t.Context(), report(findings...)))
	var d scanner.Document
	body := s.got()[0].body
	must(t, json.Unmarshal(body, &d))
	if len(body) > maxDocument || len(body) < maxDocument*9/10 {
		t.Errorf("the document has %d bytes, want just below %d", len(body), maxDocument)
	}
	if !d.Truncated || d.Omitted == 0 || d.Omitted+len(d.Findings) != len(findings) {
		t.Errorf("%d findings, %d omitted, truncated %v; %d in all", len(d.Findings), d.Omitted, d.Truncated,
			len(findings))
	}
	if d.Findings[0].KeyBase64 != nil || len(d.Findings[0].Key) > maxKeyText {
		t.Errorf("the huge key takes %d bytes", len(d.Findings[0].Key))
	}
}

func TestResolvedAndFoundAgainLasts(t *testing.T) {
	s := newTarget(t)
	r := report(finding(scanner.NoTTL, "lock:a"))
	r.Resolved = []scanner.Finding{finding(scanner.NoTTL, "lock:a"), finding(scanner.NoTTL, "lock:b")}
	must(t, newAlertmanager(t, []string{s.URL}).Notify(t.Context(), r))
	var alerts []alert
	must(t, json.Unmarshal(s.got()[0].body, &alerts))
	if len(alerts) != 2 || alerts[0].Labels["lock"] != "lock:a" || alerts[1].Labels["lock"] != "lock:b" {
		t.Fatalf("alerts: %v", alerts)
	}
	if held := alerts[0].EndsAt.Sub(alerts[1].EndsAt); held != HoldIntervals*DefaultResend {
		t.Errorf("a lasting alert ends %v after a resolved one, want %v", held, HoldIntervals*DefaultResend)
	}
}
