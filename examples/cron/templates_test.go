package cron_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
)

// slackMessage is what an incoming webhook of Slack takes.
type slackMessage struct {
	Text   string
	Blocks []struct {
		Type string
		Text struct {
			Type, Text string
			Verbatim   bool
		}
	}
}

// pagerEvent is what PagerDuty's Events API v2 takes.
type pagerEvent struct {
	RoutingKey  string `json:"routing_key"`
	EventAction string `json:"event_action"`
	DedupKey    string `json:"dedup_key"`
	Client      string
	Payload     *struct {
		Summary, Source, Severity, Class string
		Details                          struct {
			Remedy string
			Locks  []string
		} `json:"custom_details"`
	}
	Links []struct{ Href, Text string }
}

// receiver serves an address for one template, and decodes what is posted there, with no field that it does not know.
func receiver[T any](t *testing.T) (url string, posted <-chan T) {
	all := make(chan T, 100)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var v T
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			t.Errorf("%v in %s", err, text)
		}
		all <- v
	}))
	t.Cleanup(s.Close)
	return s.URL, all
}

// TestTemplates scans a server with the templates for Slack and PagerDuty: with a few leaks, with many, and with none.
func TestTemplates(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	c := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { must(t, c.Close()) })
	slack, messages := receiver[slackMessage](t)
	pager, events := receiver[pagerEvent](t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"slack.tmpl": read(t, "slack.tmpl"), "pagerduty.tmpl": read(t, "pagerduty.tmpl"), "key": "r0uting\n",
		"lockscope.yaml": fmt.Sprintf(`groups: [{name: orders, redis: [%q]}]
patterns: [{prefix: "lock:"}]
allow_empty: true
notify:
  webhooks:
    - {url: %q, template_file: slack.tmpl}
    - {url: %q, template_file: pagerduty.tmpl, secret_file: key}
`, server.Addr(), slack, pager),
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	scan := func(status int) (slackMessage, pagerEvent) {
		t.Helper()
		o := run(t, nil, built, "scan", "--config", filepath.Join(dir, "lockscope.yaml"), "--confirm-after", "10ms",
			"--state", filepath.Join(dir, "state"))
		if o.status != status || len(messages) != 1 || len(events) != 1 {
			t.Fatalf("exit %d, %d messages, %d events: %s%s", o.status, len(messages), len(events), o.out, o.err)
		}
		return <-messages, <-events
	}

	must(t, c.Set(t.Context(), "lock:<!here>&", "1", 0).Err())
	message, event := scan(1)
	if message.Text != "1 leaked locks of orders" || len(message.Blocks) != 2 || !message.Blocks[1].Text.Verbatim ||
		!strings.Contains(message.Blocks[1].Text.Text, "/DistributedLockLeaked.md|no_ttl> Redis lock lock:&lt;!here&gt;&amp; on ") {
		t.Errorf("%+v", message)
	}
	if event.RoutingKey != "r0uting" || event.EventAction != "trigger" || event.Payload == nil ||
		event.Payload.Severity != "critical" || event.Payload.Source != server.Addr() || len(event.Payload.Details.Locks) != 1 ||
		!strings.HasPrefix(event.Payload.Summary, "1 leaked locks of orders. Redis lock lock:<!here>& on ") || len(event.Links) != 1 {
		t.Errorf("%+v", event)
	}

	for i := range 100 {
		must(t, c.Set(t.Context(), fmt.Sprintf("lock:%d%s", i, strings.Repeat("&", 3000)), "1", 0).Err())
	}
	message, more := scan(1)
	if n := len(message.Blocks); n != 22 || message.Blocks[n-1].Text.Text != "81 more are not listed" {
		t.Errorf("%+v", message)
	}
	for _, b := range message.Blocks {
		if b.Type != "section" || b.Text.Type != "mrkdwn" || b.Text.Text == "" || len([]rune(b.Text.Text)) > 3000 {
			t.Errorf("Slack refuses %+v", b)
		}
	}
	if more.DedupKey != event.DedupKey || !strings.HasPrefix(more.Payload.Summary, "101 leaked locks of orders.") ||
		len([]rune(more.Payload.Summary)) > 1024 {
		t.Errorf("%+v", more)
	}

	must(t, c.FlushAll(t.Context()).Err())
	message, last := scan(0)
	if message.Text != "0 leaked locks of orders" || len(message.Blocks) != 22 ||
		!strings.HasPrefix(message.Blocks[1].Text.Text, "Resolved: lock:") {
		t.Errorf("%+v", message)
	}
	if last.EventAction != "resolve" || last.DedupKey != event.DedupKey || last.Payload != nil {
		t.Errorf("%+v", last)
	}
}
