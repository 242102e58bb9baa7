package cron_test

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

// TestServeUser runs the Deployment's command twice as its user: one of the two
// sweeps, the other stands by and takes over, and the server refuses neither anything.
func TestServeUser(t *testing.T) {
	s := aclServer(t)
	s.plant(t)
	first := serve(t, s)
	first.await("it sweeps", func() bool { return first.sweeps() })
	first.await("it lists", func() bool { return strings.Contains(first.get("/debug/locks"), "worker-7/42") })
	second := serve(t, s)
	second.await("it stands by", func() bool { return strings.Contains(second.Log(), "standby: another process") })
	first.terminate()
	second.await("it takes over", func() bool { return second.sweeps() })
	second.terminate()
	if denied := s.denied(t); len(denied) > 0 {
		t.Errorf("ACL LOG: %q", denied)
	}
}

// daemon is a running lockscope serve.
type daemon struct {
	*process.Process
	t *testing.T
}

func serve(t *testing.T, s server) *daemon {
	t.Helper()
	cmd := exec.Command(built, "serve", "--redis="+s.Addr(), "--redis-username=lockscope-serve", "--interval=500ms",
		"--confirm-after=10ms",
		"--elect", "--node-timeout=2s", "--web.listen-address=127.0.0.1:0", "--log.level=debug")
	cmd.Env = []string{"LOCKSCOPE_REDIS_PASSWORD=" + password}
	p, err := process.Start("serve", t.TempDir(), cmd)
	must(t, err)
	t.Cleanup(func() { must(t, p.Kill()) })
	return &daemon{Process: p, t: t}
}

func (d *daemon) await(what string, cond func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !cond(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("%s: not within 30 s\n%s", what, d.Log())
		}
	}
}

var urlLogged = regexp.MustCompile(`http://[^"\]]+`)

// get returns a page, or nothing while there is none.
func (d *daemon) get(path string) string {
	url := urlLogged.FindString(d.Log())
	if url == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(d.t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
	must(d.t, err)
	req.Header.Set("Accept", "application/json, text/plain;q=0.5")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(d.t, err)
	return string(text)
}

var passed = regexp.MustCompile(`(?m)^distributed_lock_scanner_passes_total\{.*\} [1-9]`)

func (d *daemon) sweeps() bool { return passed.MatchString(d.get("/metrics")) }

func (d *daemon) terminate() {
	d.t.Helper()
	must(d.t, d.Err())
	must(d.t, d.StopWithin(30*time.Second))
	if status := d.ExitCode(); status != 0 {
		d.t.Errorf("exit %d\n%s", status, d.Log())
	}
}
