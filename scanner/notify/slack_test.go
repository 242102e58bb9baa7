package notify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/lockscope/lockscope/scanner"
)

// slackHook is an incoming webhook that refuses a message as Slack would.
type slackHook struct {
	*httptest.Server
	mu     sync.Mutex
	down   bool
	posted []slackMessage
}

func newSlackHook(t *testing.T) *slackHook {
	s := &slackHook{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *slackHook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		http.Error(w, "no_service", http.StatusNotFound)
		return
	}
	body, _ := io.ReadAll(r.Body)
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var m slackMessage
	if err := decoder.Decode(&m); err != nil {
		http.Error(w, "invalid_payload: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := validSlack(m); err != nil {
		http.Error(w, "invalid_blocks: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.posted = append(s.posted, m)
	io.WriteString(w, "ok")
}

var (
	slackLinks    = regexp.MustCompile(`<https?://[^<>|]+\|[^<>|]+>`)
	slackEntities = regexp.MustCompile(`&(amp|lt|gt);`)
)

func validSlack(m slackMessage) error {
	if m.Text == "" || len(m.Blocks) < 1 || len(m.Blocks) > 50 {
		return fmt.Errorf("text %q, %d blocks", m.Text, len(m.Blocks))
	}
	texts := []string{m.Text}
	for _, b := range m.Blocks {
		if n := utf8.RuneCountInString(b.Text.Text); b.Type != "section" || b.Text.Type != "mrkdwn" || n < 1 ||
			n > 3000 {
			return fmt.Errorf("block %s of %s with %d characters", b.Type, b.Text.Type, n)
		}
		texts = append(texts, b.Text.Text)
	}
	for _, text := range texts {
		bare := slackEntities.ReplaceAllString(slackLinks.ReplaceAllString(text, ""), "")
		if strings.ContainsAny(bare, "<>&") {
			return fmt.Errorf("not escaped: %s", bare)
		}
	}
	return nil
}

func (s *slackHook) got() []slackMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posted
}

func (s *slackHook) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func TestSlackMessage(t *testing.T) {
	s := newSlackHook(t)
	w := newWebhook(t, s.URL, WithFormat(Slack), WithInstance("cron & co"),
		WithRunbookURL("https://r.example/a?b=1&c=2"))
	grouped := finding(scanner.LongTTL, "lock:<b>")
	grouped.Group = "orders"
	r := report(finding(scanner.NoTTL, "lock:a"), grouped)
	r.Resolved = []scanner.Finding{finding(scanner.Orphan, "<!channel> `x`")}
	r.Overflow = 4
	r.Gaps = []scanner.Gap{{Node: "b:6379", Reason: "unreachable"}}
	must(t, w.Notify(t.Context(), r))
	got := s.got()
	if len(got) != 1 {
		t.Fatalf("%d messages, want 1", len(got))
	}
	const headline = "lockscope (cron &amp; co): 2 findings, 2 new, 1 resolved"
	want := []string{
		"*" + headline + "*",
		"*<https://r.example/a?b=1&amp;c=2/DistributedLockLeaked.md|DistributedLockLeaked>* (no_ttl): " +
			"a Redis lock never expires\n" +
			"• `lock:a` on 127.0.0.1:6379, held by billing-7: TTL -1 in two looks 5s apart",
		"*<https://r.example/a?b=1&amp;c=2/DistributedLockOverlong.md|DistributedLockOverlong>* (long_ttl): " +
			"a Redis lock expires later than policy allows\n" +
			"• `lock:&lt;b&gt;` on 127.0.0.1:6379 of orders, held by billing-7: TTL -1 in two looks 5s apart",
		"*Resolved*\n• `&lt;!channel&gt; ˋxˋ` on 127.0.0.1:6379 (orphan)",
		"4 findings over the limit, counted and not listed. The sweep is incomplete: 1 gap.",
	}
	if got[0].Text != headline || len(got[0].Blocks) != len(want) {
		t.Fatalf("%q with %d blocks, want %q with %d", got[0].Text, len(got[0].Blocks), headline, len(want))
	}
	for i, b := range got[0].Blocks {
		if b.Text.Text != want[i] || !b.Text.Verbatim {
			t.Errorf("block %d: %+v\nwant %s", i, b.Text, want[i])
		}
	}
}

// TestSlackBounds has short texts, which fill a block to its end, and texts that become five times as long when
// escaped.
func TestSlackBounds(t *testing.T) {
	for _, length := range []int{1, 300, 10_000} {
		testSlackBounds(t, strings.Repeat("&", length))
	}
}

func testSlackBounds(t *testing.T, text string) {
	s := newSlackHook(t)
	var findings []scanner.Finding
	for _, class := range []scanner.Class{scanner.NoTTL, scanner.HeldTooLong, scanner.Orphan, scanner.LongTTL,
		scanner.ForeignType} {
		for i := range 1000 {
			f := finding(class, text+fmt.Sprint(i))
			f.Node, f.Group, f.Evidence, f.Hold.Instance = text, text, text, text
			findings = append(findings, f)
		}
	}
	r := report(findings...)
	r.Resolved = []scanner.Finding{finding(scanner.NoTTL, strings.Repeat("é", 10_000))}
	w := newWebhook(t, s.URL, WithFormat(Slack), WithInstance(text), WithRunbookURL("https://r.example/"+text))
	must(t, w.Notify(t.Context(), r))
	m := s.got()[0]
	if len(m.Blocks) != 1+5+1 {
		t.Fatalf("%d blocks, want a headline, five classes and the resolved finding", len(m.Blocks))
	}
	for _, b := range m.Blocks[1:6] {
		var more int
		lines := strings.Split(b.Text.Text, "\n") // a title, findings, a count of the rest
		last := lines[len(lines)-1]
		_, err := fmt.Sscanf(last, "… and %d more", &more)
		if err != nil || len(lines) < 3 || more+len(lines)-2 != 1000 {
			t.Errorf("%d lines and %q: want at least one finding and a count of the others", len(lines), last)
		}
	}
}

func TestSlackPostsChanges(t *testing.T) {
	s := newSlackHook(t)
	w := newWebhook(t, s.URL, WithFormat(Slack))
	a, b := finding(scanner.NoTTL, "lock:a"), finding(scanner.NoTTL, "lock:b")
	gone := report()
	gone.Resolved = []scanner.Finding{a}
	again := report(b)
	again.Resolved = []scanner.Finding{b} // it leaked again after it was repaired
	standby := report(finding(scanner.NoTTL, "lock:c"))
	standby.Standby = true
	for i, step := range []struct {
		down   bool
		report scanner.Report
		posts  int
		text   string
	}{
		{false, report(), 0, ""},
		{false, standby, 0, ""},
		{true, report(a), 0, ""},
		{false, report(a), 1, "1 finding, 1 new, 0 resolved"}, // the first attempt was not accepted
		{false, report(a), 0, ""},
		{false, report(a, b), 1, "2 findings, 1 new, 0 resolved"},
		{false, again, 0, ""},
		{false, gone, 1, "0 findings, 0 new, 1 resolved"},
		{false, report(a), 1, "1 finding, 1 new, 0 resolved"},
	} {
		s.setDown(step.down)
		before := len(s.got())
		if err := w.Notify(t.Context(), step.report); (err != nil) != step.down {
			t.Fatalf("step %d: %v", i, err)
		}
		got := s.got()[before:]
		if len(got) != step.posts || step.posts == 1 && !strings.HasSuffix(got[0].Text, step.text) {
			t.Errorf("step %d: %+v, want %d posts %q", i, got, step.posts, step.text)
		}
	}
	before := len(s.got())
	every := newWebhook(t, s.URL, WithFormat(Slack), WithEveryReport())
	must(t, every.Notify(t.Context(), report()))
	must(t, every.Notify(t.Context(), report()))
	if n := len(s.got()) - before; n != 2 {
		t.Errorf("WithEveryReport: %d posts of 2 reports", n)
	}
}
