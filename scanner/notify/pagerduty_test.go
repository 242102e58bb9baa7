package notify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/lockscope/lockscope/scanner"
)

const routingKey = "R0UTINGKEY0123456789abcdef012345"

// pagerAPI is an Events API v2 that refuses an event as PagerDuty would.
type pagerAPI struct {
	*httptest.Server
	mu     sync.Mutex
	status int    // the answer to each event, if not 0
	refuse string // an event that contains it is answered with 400
	events []pagerEvent
	open   map[string]pagerEvent
	calls  int
}

func newPagerAPI(t *testing.T) *pagerAPI {
	p := &pagerAPI{open: map[string]pagerEvent{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *pagerAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	body, _ := io.ReadAll(r.Body)
	if p.status != 0 {
		w.WriteHeader(p.status)
		w.Write(body)
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var e pagerEvent
	err := decoder.Decode(&e)
	if err = errors.Join(err, validEvent(e)); err != nil || p.refuse != "" && bytes.Contains(body, []byte(p.refuse)) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"status":"invalid event","message":%q,"errors":[]}`, fmt.Sprint(e.DedupKey, err))
		return
	}
	p.events = append(p.events, e)
	if e.Action == "trigger" {
		p.open[e.DedupKey] = e
	} else {
		delete(p.open, e.DedupKey)
	}
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, `{"status":"success"}`)
}

func validEvent(e pagerEvent) error {
	switch p := e.Payload; {
	case len(e.RoutingKey) != 32:
		return errors.New("routing_key: should be 32 characters")
	case e.DedupKey == "" || len(e.DedupKey) > 255:
		return errors.New("dedup_key")
	case e.Action == "resolve":
		return nil
	case e.Action != "trigger" || p == nil:
		return errors.New("event_action or payload")
	case p.Summary == "" || utf8.RuneCountInString(p.Summary) > 1024 || p.Source == "" || len(p.Details) == 0:
		return errors.New("payload")
	case !slices.Contains([]string{"critical", "error", "warning", "info"}, p.Severity):
		return errors.New("severity")
	}
	return nil
}

// state returns the open incidents and the number of requests so far.
func (p *pagerAPI) state() (open, calls int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open), p.calls
}

func (p *pagerAPI) fail(status int, refuse string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.refuse = status, refuse
}

func newPagerDuty(t *testing.T, p *pagerAPI, opts ...Option) *Webhook {
	return newWebhook(t, p.URL, append([]Option{WithFormat(PagerDuty), WithRoutingKey(routingKey), WithRetries(0)},
		opts...)...)
}

func resolved(findings ...scanner.Finding) scanner.Report {
	r := report()
	r.Resolved = findings
	return r
}

func many(n int) (all []scanner.Finding) {
	for i := range n {
		all = append(all, finding(scanner.NoTTL, fmt.Sprintf("lock:%03d", i)))
	}
	return all
}

func TestPagerDutyEvents(t *testing.T) {
	api := newPagerAPI(t)
	w := newPagerDuty(t, api, WithSeverity(scanner.NoTTL, "critical"), WithInstance("cron"),
		WithRunbookURL("https://r.example"), WithGeneratorURL("https://page.example"))
	f := finding(scanner.NoTTL, "lock:a")
	f.Group = "orders"
	must(t, w.Notify(t.Context(), report(f)))
	must(t, w.Notify(t.Context(), report(f))) // nothing new
	must(t, w.Notify(t.Context(), resolved(f)))
	got, err := json.Marshal(api.events)
	must(t, err)
	const key = "lockscope-6d449da320448a68e4e1361f917ee509"
	want := `[{"routing_key":"` + routingKey + `","event_action":"trigger","dedup_key":"` + key + `",` +
		`"payload":{"summary":"Redis lock lock:a on 127.0.0.1:6379 never expires.","source":"127.0.0.1:6379",` +
		`"severity":"critical","timestamp":"2026-11-02T10:00:00Z","component":"lock:a","group":"orders",` +
		`"class":"no_ttl","custom_details":{"class":"no_ttl","description":"` +
		holderText(f.Hold) + " " + remedy(scanner.NoTTL) + `","evidence":"TTL -1 in two looks 5s apart",` +
		`"findings":1,"instance":"cron","lock":"lock:a","node":"127.0.0.1:6379"}},` +
		`"client":"lockscope","client_url":"https://page.example",` +
		`"links":[{"href":"https://r.example/DistributedLockLeaked.md","text":"Runbook DistributedLockLeaked"}]},` +
		`{"routing_key":"` + routingKey + `","event_action":"resolve","dedup_key":"` + key + `"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDedupKeyIsOfOneFinding(t *testing.T) {
	seen := map[string]identity{}
	for _, id := range []identity{
		{"g", scanner.NoTTL, "n", "k"}, {"", scanner.NoTTL, "n", "k"}, {"g", scanner.Orphan, "n", "k"},
		{"g", scanner.NoTTL, "m", "k"}, {"g", scanner.NoTTL, "n", "l"}, {"g", scanner.NoTTL, `n" "k`, ""},
		{"g", scanner.NoTTL, "n", "k\x00"}, {"g", scanner.NoTTL, "n", "\xff"}, {"g", scanner.NoTTL, "n", "\ufffd"},
	} {
		key := id.dedupKey()
		if other, taken := seen[key]; taken || key != id.dedupKey() {
			t.Errorf("%+v and %+v have the dedup key %s", id, other, key)
		}
		seen[key] = id
	}
}

// TestPagerDutyBounds takes 500 findings in steps and resolves them in steps.
func TestPagerDutyBounds(t *testing.T) {
	api := newPagerAPI(t)
	w := newPagerDuty(t, api)
	findings := many(500)
	step := func(r scanner.Report, events, open int) {
		t.Helper()
		_, before := api.state()
		must(t, w.Notify(t.Context(), r))
		if nowOpen, calls := api.state(); nowOpen != open || calls-before != events {
			t.Fatalf("%d events and %d open incidents, want %d and %d", calls-before, nowOpen, events, open)
		}
	}
	for i := range 5 {
		step(report(findings...), 20, 20*(i+1))
	}
	step(report(findings...), 0, MaxIncidents)
	if e := api.events[0]; e.Payload.Component != "lock:000" || e.Payload.Details["findings"] != 500.0 {
		t.Errorf("the first event is of %s, one of %v findings", e.Payload.Component, e.Payload.Details["findings"])
	}
	step(resolved(findings...), 20, 80)
	for i := range 4 {
		step(report(), 20, 60-20*i)
	}
	step(report(), 0, 0)
}

func TestPagerDutyBoundsTexts(t *testing.T) {
	api := newPagerAPI(t)
	huge := finding(scanner.NoTTL, strings.Repeat("é<", 1<<20))
	huge.Node, huge.Evidence, huge.Hold.Instance = strings.Repeat("é", 1<<20), strings.Repeat("é", 1<<20),
		strings.Repeat("\xff", 1<<20)
	must(t, newPagerDuty(t, api).Notify(t.Context(), report(huge)))
	if size := size(api.events[0]); size > 32<<10 {
		t.Errorf("the event has %d bytes; PagerDuty takes 512 KiB, and people read a screen", size)
	}
}

func TestPagerDutyKeepsWhatWasNotTaken(t *testing.T) {
	api := newPagerAPI(t)
	w := newPagerDuty(t, api)
	a, b, c := finding(scanner.NoTTL, "lock:a"), finding(scanner.NoTTL, "lock:b"), finding(scanner.NoTTL, "lock:c")
	step := func(r scanner.Report, status, calls, open int) {
		t.Helper()
		_, before := api.state()
		err := w.Notify(t.Context(), r)
		if got, _ := statusOf(err); got != status {
			t.Fatalf("%v, want status %d", err, status)
		}
		if err != nil && strings.Contains(err.Error(), "R0UTING") {
			t.Fatalf("the error shows the routing key: %v", err)
		}
		if nowOpen, now := api.state(); nowOpen != open || now-before != calls {
			t.Fatalf("%d requests and %d open incidents, want %d and %d", now-before, nowOpen, calls, open)
		}
	}
	for _, status := range []int{503, 429, 401} {
		api.fail(status, "")
		step(report(a, b, c), status, 1, 0) // the others wait for the next report
	}
	api.fail(0, "lock:b")
	step(report(a, b, c), 400, 3, 2) // a refused event does not stop the next
	step(report(a, b, c), 400, 1, 2)
	api.fail(0, "")
	step(report(a, b, c), 0, 1, 3)
	api.fail(0, "lock:d")
	d, e := finding(scanner.NoTTL, "lock:d1"), finding(scanner.NoTTL, "lock:d2")
	if err := w.Notify(t.Context(), report(d, e)); !strings.Contains(fmt.Sprint(err), identityOf(&d).dedupKey()) {
		t.Errorf("%v, want the first error", err)
	}
	api.fail(500, "")
	step(resolved(a, b, c), 500, 1, 3)
	step(resolved(a), 500, 1, 3) // it leaked and was repaired between two sweeps
	api.fail(0, "")
	step(report(b), 0, 2, 1) // b leaked again before its incident was resolved
	step(resolved(b), 0, 1, 0)
	step(report(b), 0, 1, 1) // and after it
}

// TestPagerDutyResolvesAnEarlierProcess: the notifier has not triggered the incident itself.
func TestPagerDutyResolvesAnEarlierProcess(t *testing.T) {
	api := newPagerAPI(t)
	findings := many(10)
	must(t, newPagerDuty(t, api).Notify(t.Context(), report(findings...)))
	later := newPagerDuty(t, api)
	must(t, later.Notify(t.Context(), resolved(findings[:7]...)))
	if open, _ := api.state(); open != 3 {
		t.Errorf("%d incidents are open, want 3", open)
	}
	// Keys of incidents that no notifier can have triggered are not kept forever.
	must(t, later.Notify(t.Context(), resolved(many(5000)...)))
	if kept := len(later.format.(*pagerDuty).resolve); kept > MaxIncidents {
		t.Errorf("%d findings wait to be resolved", kept)
	}
}

func TestPagerDutyURL(t *testing.T) {
	asked := ""
	w := newWebhook(t, "", WithFormat(PagerDuty), WithRoutingKey(routingKey),
		withTransport(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.String()
			return answer(http.StatusAccepted)
		}))
	must(t, w.Notify(t.Context(), report(finding(scanner.NoTTL, "lock:a"))))
	if asked != "https://events.pagerduty.com/v2/enqueue" {
		t.Errorf("posted to %s", asked)
	}
}
