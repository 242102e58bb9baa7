package notify

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestPostsChangesOnly follows the sweeps of a group. Times, TTLs and gaps are no change.
func TestPostsChangesOnly(t *testing.T) {
	s := newTarget(t)
	w := newWebhook(t, Webhook{URL: s.URL})
	later := finding(inspect.NoTTL, "lock:a")
	later.LastSeen, later.TTL, later.Evidence = seen.AddDate(0, 0, 1), 7, "seen again"
	healed := reportOf()
	healed.Resolved = leaks(1)
	standby := reportOf(leaks(5)...)
	standby.Standby = true
	for i, sweep := range []struct {
		what  string
		r     report.Report
		posts bool
	}{
		{"nothing", reportOf(), false},
		{"a leak", reportOf(finding(inspect.NoTTL, "lock:a")), true},
		{"the same", reportOf(finding(inspect.NoTTL, "lock:a")), false},
		{"the same, later", reportOf(later), false},
		{"another class", reportOf(finding(inspect.Orphan, "lock:a")), true},
		{"another lock", reportOf(finding(inspect.Orphan, "lock:b")), true},
		{"of a standby", standby, false},
		{"none", healed, true},
		{"still none", reportOf(), false},
		{"many", reportOf(leaks(3000)...), true},
		{"one more", reportOf(leaks(3001)...), false},
		{"twice as many", reportOf(leaks(6000)...), true},
		{"half", reportOf(leaks(3000)...), true},
		{"a list again", reportOf(leaks(most)...), true},
		{"just too many", reportOf(leaks(most + 1)...), true},
		{"and one more", reportOf(leaks(most + 2)...), false},
	} {
		before := len(s.got())
		must(t, w.Notify(t.Context(), sweep.r))
		if posted := len(s.got()) > before; posted != sweep.posts {
			t.Errorf("sweep %d, %s: posted %v, want %v", i, sweep.what, posted, sweep.posts)
		}
	}
}

// TestResolvedAfterARestart: a new process posts what an earlier one found.
func TestResolvedAfterARestart(t *testing.T) {
	s := newTarget(t)
	r := reportOf()
	r.Resolved = leaks(1)
	must(t, newWebhook(t, Webhook{URL: s.URL}).Notify(t.Context(), r))
	if d := decode[report.Document](t, s); len(d.Findings) != 0 || len(d.Resolved) != 1 {
		t.Errorf("%+v", d)
	}
}

// TestGroupsApart: one notifier of several scanners posts the changes of each.
func TestGroupsApart(t *testing.T) {
	s := newTarget(t)
	w := newWebhook(t, Webhook{URL: s.URL})
	for range 2 {
		for _, of := range []struct{ group, server string }{
			{"orders", "redis-1"}, {"batch", "redis-2"}, {"", "redis-3"}, {"", "redis-4"},
		} {
			f := finding(inspect.NoTTL, "lock:"+of.server)
			f.Group = of.group
			r := reportOf(f)
			r.Servers = []string{of.server}
			must(t, w.Notify(t.Context(), r))
		}
	}
	if n := len(s.got()); n != 4 {
		t.Errorf("%d posts of four scanners, want one each", n)
	}
}

// TestFailedPostIsRepeated with the next report, though that is the same.
func TestFailedPostIsRepeated(t *testing.T) {
	s := newTarget(t, 403, 200)
	w := newWebhook(t, Webhook{URL: s.URL})
	if err := w.Notify(t.Context(), reportOf(leaks(1)...)); err == nil {
		t.Fatal("a refused post is no error")
	}
	must(t, w.Notify(t.Context(), reportOf(leaks(1)...)))
	must(t, w.Notify(t.Context(), reportOf(leaks(1)...)))
	if n := len(s.got()); n != 2 {
		t.Errorf("%d posts, want a refused and a taken one", n)
	}
}

// TestDocumentIsBounded: many findings with huge texts are a document with the worst of them, and their number.
func TestDocumentIsBounded(t *testing.T) {
	s := newTarget(t)
	many := leaks(3000)
	for i := range most {
		f := &many[i]
		f.Key, f.Evidence = strings.Repeat("\xff", 100<<10)+fmt.Sprint(i), strings.Repeat("e", 100<<10)
		f.Hold.Instance, f.Hold.Reason = f.Evidence, f.Evidence
	}
	r := reportOf(many...)
	r.Resolved, r.Overflow = append(many[:1:1], finding(inspect.NoTTL, "lock:gone")), 5
	must(t, newWebhook(t, Webhook{URL: s.URL}).Notify(t.Context(), r))
	d := decode[report.Document](t, s)
	if size := len(s.got()[0].body); size > 200<<10 || len(d.Findings) != most || d.Omitted != 2980 || !d.Truncated {
		t.Errorf("%d bytes, %d findings, %d omitted", size, len(d.Findings), d.Omitted)
	}
	if d.Findings[0].Key == d.Findings[1].Key || d.Findings[0].KeyBase64 != nil {
		t.Error("cut keys became the same, or their bytes are in the document")
	}
	if len(d.Resolved) != 1 || d.Resolved[0].Key != "lock:gone" {
		t.Errorf("resolved: %+v, want only what does not last", d.Resolved)
	}
}

// TestTemplate writes what a finding says, whatever is in its key.
func TestTemplate(t *testing.T) {
	s := newTarget(t)
	w := newWebhook(t, Webhook{URL: s.URL, Secret: "k3y", Template: `{"n":{{.Count}},"key":{{json .Secret}},"lines":[
{{range $i, $f := .Findings}}{{if $i}},{{end}}{{json (escape (summary $f))}},{{json (runbook $f)}},{{json (remedy $f)}}{{end}}]}`})
	f := finding(inspect.NoTTL, "<!here>\"\n\xff")
	f.Group, f.Hold.Holder = "orders", lock.Holder{}
	must(t, w.Notify(t.Context(), reportOf(f)))
	body := decode[struct {
		N     int
		Key   string
		Lines []string
	}](t, s)
	if body.N != 1 || body.Key != "k3y" || len(body.Lines) != 3 ||
		body.Lines[0] != `Redis lock "&lt;!here&gt;\"\n\xff" on 127.0.0.1:6379 never expires.` ||
		!strings.HasSuffix(body.Lines[1], "/DistributedLockLeaked.md") || !strings.HasPrefix(body.Lines[2], "It blocks") {
		t.Errorf("%+v", body)
	}
}

// TestBrokenTemplate is refused before there is a finding.
func TestBrokenTemplate(t *testing.T) {
	for text, says := range map[string]string{
		"{{": "unclosed action", "{{.Leaks}}": "Leaks", "{{frobnicate}}": "frobnicate", `{"text": {{.Group}}}`: "no valid JSON",
		`{{range .Findings}}{{.Locks}}{{end}}{}`: "Locks", `{{range .Resolved}}{{.Locks}}{{end}}{}`: "Locks",
		`{{range .Findings}}{{.Holder.Nam}}{{end}}{}`: "Nam",
	} {
		if _, err := NewWebhook(Webhook{URL: "http://h", Template: text}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// TestNotifyReturnsWithItsContext: a sweep that is over posts nothing.
func TestNotifyReturnsWithItsContext(t *testing.T) {
	s := newTarget(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newWebhook(t, Webhook{URL: s.URL}).Notify(ctx, reportOf(leaks(1)...)); err == nil || len(s.got()) != 0 {
		t.Errorf("%v, %d posts", err, len(s.got()))
	}
}
