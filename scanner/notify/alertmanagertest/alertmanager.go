package alertmanagertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

const (
	// patience bounds every wait, even on a busy machine.
	patience  = 30 * time.Second
	pollEvery = 20 * time.Millisecond
)

// Server is a running Alertmanager with its receiver.
type Server struct {
	url      string
	client   *http.Client
	received *receiver
	process  *process.Process
}

// Alert is an alert as the API lists it.
type Alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
}

// configuration sends every change to the receiver at once, each alert in its own group, so that tests need not wait
// for intervals.
const configuration = `
route:
  receiver: test
  group_by: ['...']
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
receivers:
- name: test
  webhook_configs:
  - url: %q
    send_resolved: true
`

// Start starts an Alertmanager and returns when it is ready. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{received: &receiver{}, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		Timeout: patience}}
	receiver := httptest.NewServer(s.received)
	t.Cleanup(receiver.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "alertmanager.yml")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, receiver.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	s.process, err = process.Start("alertmanager", dir, exec.Command(bin,
		"--config.file="+file,
		"--storage.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0",
		"--cluster.listen-address="))
	if err != nil {
		t.Fatalf("alertmanagertest: %v", err)
	}
	t.Cleanup(func() { _ = s.process.Stop() })
	s.awaitReady(t)
	return s
}

func (s *Server) awaitReady(t testing.TB) {
	t.Helper()
	address, err := s.process.AwaitAddress(t.Context())
	if err != nil {
		t.Fatalf("alertmanagertest: %v", err)
	}
	s.url = "http://" + address
	Await(t, "Alertmanager is ready", func() bool {
		resp, err := s.client.Get(s.url + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// URL returns the base URL, without a slash at its end.
func (s *Server) URL() string { return s.url }

// Alerts returns the active alerts as the API lists them.
func (s *Server) Alerts(t testing.TB) []Alert {
	t.Helper()
	resp, err := s.client.Get(s.url + "/api/v2/alerts")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var alerts []Alert
	if err := json.NewDecoder(resp.Body).Decode(&alerts); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("alertmanagertest: list alerts: status %d: %v", resp.StatusCode, err)
	}
	return alerts
}

// Received returns the notifications that the receiver got so far, in order.
func (s *Server) Received() []Notification { return s.received.all() }

// Await polls until done returns true, and fails the test after 30 s.
func Await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(pollEvery) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v: %s did not happen", patience, what)
		}
	}
}
