package notify

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// request is what a test server received.
type request struct {
	path   string
	header http.Header
	body   []byte
}

// target answers with its statuses in turn; the last one repeats.
type target struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	answer   string
	requests []request
}

func newTarget(t *testing.T, statuses ...int) *target {
	s := &target{statuses: statuses}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request{r.URL.Path, r.Header.Clone(), body})
	status := http.StatusOK
	if len(s.statuses) > 0 {
		status = s.statuses[0]
	}
	if len(s.statuses) > 1 {
		s.statuses = s.statuses[1:]
	}
	w.WriteHeader(status)
	io.WriteString(w, s.answer)
}

func (s *target) got() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

var seen = time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)

func finding(class inspect.Class, key string) report.Finding {
	return report.Finding{
		Class: class, Node: "127.0.0.1:6379", Key: key, Type: "string", TTL: -1,
		Evidence:  "TTL -1 in two looks 5s apart",
		FirstSeen: seen, LastSeen: seen.Add(5 * time.Second), Confirmed: true,
		Hold: inspect.Hold{Holder: lock.Holder{Instance: "billing-7", Since: seen}, Format: inspect.FormatLockscope,
			Fence: 1<<60 + 1},
	}
}

func reportOf(findings ...report.Finding) report.Report {
	return report.Report{
		Started: seen, Took: 1500 * time.Millisecond, Findings: findings,
		Nodes: []report.NodeReport{{Node: "127.0.0.1:6379", Locks: 3, Examined: 10, Calls: 2, Path: report.PathScript,
			Counts: map[inspect.Class]int{inspect.NoTTL: len(findings)}}},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newWebhook(t *testing.T, c Webhook) scanner.Notifier {
	t.Helper()
	w, err := NewWebhook(c)
	must(t, err)
	return w
}

func newAlertmanager(t *testing.T, c Alertmanager) scanner.Notifier {
	t.Helper()
	a, err := NewAlertmanager(c)
	must(t, err)
	return a
}

// leaks are n findings.
func leaks(n int) (all []report.Finding) {
	for i := range n {
		all = append(all, finding(inspect.NoTTL, fmt.Sprintf("lock:%d", i)))
	}
	return all
}

// decode reads the body of the latest request.
func decode[T any](t *testing.T, s *target) (v T) {
	t.Helper()
	got := s.got()
	must(t, json.Unmarshal(got[len(got)-1].body, &v))
	return v
}
