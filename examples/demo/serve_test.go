//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// TestDemoServes reads metrics and the page's JSON while the demo runs.
func TestDemoServes(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	url, wait := startDemo(t, ctx, "-for", "40s", "-node-timeout", "500ms")
	defer func() {
		stop()
		wait()
	}()
	await(t, "waits and outcomes in the metrics", func() bool {
		text := fetch(t, url+"/metrics")
		return regexp.MustCompile(`(?m)^distributed_lock_wait_seconds_count\{resource="order:\*"\} [1-9]`).MatchString(
			text) &&
			regexp.MustCompile(
				`(?m)^distributed_lock_acquisitions_total\{outcome="acquired",resource="stock:\*"\} [1-9]`).MatchString(
				text)
	})
	await(t, "a waiter with its blocker, by name", func() bool {
		for _, w := range document(t, url).Waiting {
			if w.Blocker != nil && w.Blocker.Holder != "" && w.Instance != "" {
				return true
			}
		}
		return false
	})
	await(t, "the planted leak, on the page and in the metrics", func() bool {
		for _, f := range document(t, url).Scan.Findings {
			if f.Key == "lock:legacy-import" && f.Class == "no_ttl" {
				return strings.Contains(fetch(t, url+"/metrics"),
					"distributed_lock_scanner_leaked_locks{lock_node=\"127.0.0.1:")
			}
		}
		return false
	})
	if page := fetch(t, url+"/debug/locks"); !strings.Contains(page, "<html") {
		t.Errorf("no page: %.200s", page)
	}
}

func TestDemoOnATakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"-listen", l.Addr().String()}, &stdout, &stderr); status != 1 {
		t.Errorf("exit status %d", status)
	}
	if !strings.Contains(stderr.String(), l.Addr().String()) || !strings.Contains(stderr.String(), "in use") {
		t.Errorf("message %q", &stderr)
	}
}

// startDemo runs the demo until ctx ends, and returns where it serves.
func startDemo(t *testing.T, ctx context.Context, args ...string) (url string, wait func()) {
	t.Helper()
	head, wait := startDemoHead(t, ctx, args...)
	return regexp.MustCompile(`metrics (http://\S+)/metrics`).FindStringSubmatch(head)[1], wait
}

// startDemoHead runs the demo until ctx ends, and returns what it prints before the table.
func startDemoHead(t *testing.T, ctx context.Context, args ...string) (head string, wait func()) {
	t.Helper()
	out, w := io.Pipe()
	var stderr bytes.Buffer
	done := make(chan int, 1)
	go func() {
		status := run(ctx, args, w, &stderr)
		w.Close()
		done <- status
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "acq/s") {
		head += lines.Text() + "\n"
	}
	if !strings.Contains(head, "/metrics") {
		t.Fatalf("no address; exit status %d, %s", <-done, &stderr)
	}
	go io.Copy(io.Discard, out)
	return head, func() {
		if status := <-done; status != 0 {
			t.Errorf("exit status %d, %s", status, &stderr)
		}
	}
}

type page struct {
	state.State
	Scan struct {
		Findings []struct{ Key, Class string }
	}
}

func document(t *testing.T, url string) (p page) {
	t.Helper()
	if err := json.Unmarshal([]byte(fetch(t, url+"/debug/locks?format=json")), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", url, res.StatusCode, err)
	}
	return string(body)
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 30s: %s", what)
		}
	}
}
