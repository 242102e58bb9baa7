package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// binaryInterrupted: Ctrl-C does not wait for a server that hangs. go-redis waits three seconds for an answer, and
// tries again.
func binaryInterrupted(t *testing.T, bin string) {
	servers := locktest.Servers(t, 3)
	for _, s := range servers {
		cmdtest.Set(t, cmdtest.Admin(t, s), "lock:a", cmdtest.Ours, time.Hour)
	}
	cmdtest.Must(t, servers[2].Pause())
	t.Cleanup(func() { cmdtest.Must(t, servers[2].Resume()) })
	for name, status := range map[string]int{"scan": ui.ExitError, "serve": ui.ExitClean} {
		watcher := cmdtest.Admin(t, servers[0])
		before := strings.Count(watcher.ClientList(t.Context()).Val(), "\n")
		args := []string{name, "--redis", cmdtest.Addrs(servers...)}
		if name == "serve" {
			args = append(args, "--web.listen-address", "127.0.0.1:0")
		}
		p := start(t, bin, args...)
		if name == "serve" {
			p.url()
		}
		cmdtest.Eventually(t, name+" has asked a server that answers", func() bool {
			return strings.Count(watcher.ClientList(t.Context()).Val(), "\n") > before
		})
		began := time.Now()
		cmdtest.Must(t, p.Signal(os.Interrupt))
		p.wait().Want(t, status)
		if took := time.Since(began); took > 4*time.Second { // an answer is given up after five seconds
			t.Errorf("%s: %v after Ctrl-C it was gone", name, took)
		}
	}
}

// binaryRemembers: a serve that restarts all the time finds a holder that renews forever, like a serve that keeps
// running.
func binaryRemembers(t *testing.T, bin string) {
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
		p := start(t, bin, "serve", "--redis", s.Addr(), "--web.listen-address", "127.0.0.1:0", "--interval", "100ms",
			"--confirm-after", "10ms", "--max-hold", maxHold.String(), "--state", state)
		url, ready := p.url(), time.Now()
		found := false
		cmdtest.Eventually(t, "it sweeps", func() bool {
			_, body := cmdtest.Get(t, url+"/metrics")
			found = found || strings.Contains(body,
				`distributed_lock_scanner_findings{class="held_too_long",lock_node="`+
					s.Addr()+`"} 1`)
			return found || time.Since(ready) > maxHold/4
		})
		p.terminate().Want(t, ui.ExitClean)
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
