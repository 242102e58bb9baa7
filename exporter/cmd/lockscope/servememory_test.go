package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// serving is a serve with a memory, as a process.
type serving struct{ *cmdtest.Started }

func startServe(t *testing.T, args ...string) *serving {
	t.Helper()
	return &serving{cmdtest.Start(t, append([]string{"serve"}, args...)...)}
}

// url waits until it answers.
func (p *serving) url(t *testing.T) string {
	t.Helper()
	found, err := p.Await(t.Context(), cmdtest.URLLogged)
	cmdtest.Must(t, err)
	return found[0]
}

func (p *serving) terminate(t *testing.T) cmdtest.Outcome {
	t.Helper()
	cmdtest.Must(t, p.Err())
	cmdtest.Must(t, p.StopWithin(30*time.Second))
	return p.Wait()
}

// plantLeaks leaves n keys without a TTL.
func plantLeaks(t *testing.T, c *redis.Client, n int) {
	t.Helper()
	pipe := c.Pipeline()
	for i := range n {
		pipe.Set(t.Context(), fmt.Sprintf("lock:%d", i), fmt.Sprintf("%032d", i), 0)
	}
	_, err := pipe.Exec(t.Context())
	cmdtest.Must(t, err)
}

// savedFindings reads the file of --state; none before there is one. The test ends if it is not one whole document.
func savedFindings(t *testing.T, path string) []any {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	cmdtest.Must(t, err)
	var saved struct {
		Findings []any `json:"findings"`
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatalf("%s is not whole: %v", path, err)
	}
	return saved.Findings
}

// TestTwoServes: each of two processes with one file says so, both go on, and the file is whole all the time.
func TestTwoServes(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	state := filepath.Join(t.TempDir(), "state.json")
	var both [2]*serving
	for i := range both {
		both[i] = startServe(t, "--redis", s.Addr(), "--web.listen-address", "127.0.0.1:0",
			"--interval", "100ms", "--confirm-after", "10ms", "--state", state)
	}
	leaks := 0
	for i, p := range both {
		cmdtest.Eventually(t, fmt.Sprintf("process %d says so", i+1), func() bool {
			cmdtest.Set(t, c, fmt.Sprintf("lock:%d", leaks), "v", 0) // each sweep has something to save
			cmdtest.Must(t, c.Del(t.Context(), fmt.Sprintf("lock:%d", leaks-100)).Err())
			leaks++
			savedFindings(t, state)
			_, body := cmdtest.Get(t, p.url(t)+"/metrics")
			return strings.Contains(p.Log(), "another process saves to the same store") &&
				regexp.MustCompile(`distributed_lock_scanner_memory_failures_total [1-9]`).MatchString(body)
		})
	}
	both[0].terminate(t).Want(t, ui.ExitClean)
	cmdtest.Set(t, c, "lock:last", "v", 0)
	cmdtest.Eventually(t, "the other one saves", func() bool {
		text, err := os.ReadFile(state)
		cmdtest.Must(t, err)
		return strings.Contains(string(text), `"Key":"bG9jazpsYXN0"`) // lock:last
	})
	both[1].terminate(t).Want(t, ui.ExitClean)
}

// TestServeRemembers: a serve that restarts all the time finds a holder that renews forever, like a serve that keeps
// running.
func TestServeRemembers(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	const ttl, maxHold = 6 * time.Second, 8 * time.Second
	renewed, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(renewed)
		for {
			c.HSet(context.Background(), "lock:redisson", "8743c9c0-0795-4907-87fd-6c719a6b4586:7", 1)
			c.Expire(context.Background(), "lock:redisson", ttl)
			select {
			case <-stop:
				return
			case <-time.After(ttl / 3): // as Redisson renews; an earlier renewal would look like another hold
			}
		}
	}()
	defer func() { close(stop); <-renewed }()
	state, began := filepath.Join(t.TempDir(), "state.json"), time.Now()
	for runs := 1; ; runs++ {
		p := startServe(t, "--redis", s.Addr(), "--web.listen-address", "127.0.0.1:0", "--interval", "100ms",
			"--confirm-after", "10ms", "--max-hold", maxHold.String(), "--state", state)
		url, ready := p.url(t), time.Now()
		found := false
		cmdtest.Eventually(t, "it sweeps", func() bool {
			_, body := cmdtest.Get(t, url+"/metrics")
			found = found || strings.Contains(body,
				`distributed_lock_scanner_findings{class="held_too_long",lock_node="`+
					s.Addr()+`"} 1`)
			return found || time.Since(ready) > maxHold/4
		})
		p.terminate(t).Want(t, ui.ExitClean)
		if found {
			if runs < 2 {
				t.Errorf("found by the first of its runs, after %v: the check looks at nothing", time.Since(began))
			}
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("not found by %d runs in %v", runs, time.Since(began))
		}
	}
}
