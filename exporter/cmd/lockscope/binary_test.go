package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestBinary runs the built program and checks its exit statuses and its signals.
func TestBinary(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "lockscope")
	if out, err := buildStatic(bin); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Run("statuses", func(t *testing.T) { binaryStatuses(t, bin) })
	t.Run("SIGTERM mid-sweep", func(t *testing.T) { binaryTerminated(t, bin) })
	t.Run("Ctrl-C mid-sweep", func(t *testing.T) { binaryInterruptedMidSweep(t, bin) })
	t.Run("serve, SIGTERM mid-sweep", func(t *testing.T) { binaryServeTerminatedMidSweep(t, bin) })
	t.Run("two serves with one state", func(t *testing.T) { binaryTwoServes(t, bin) })
	t.Run("full disk", func(t *testing.T) { binaryFullDisk(t, bin) })
	t.Run("serve without SCAN", func(t *testing.T) { binaryServesWithoutScan(t, bin) })
	t.Run("serve", func(t *testing.T) { binaryServes(t, bin) })
	t.Run("reload", func(t *testing.T) { binaryReloads(t, bin) })
	t.Run("Ctrl-C beside a hung server", func(t *testing.T) { binaryInterrupted(t, bin) })
	t.Run("serve restarted again and again", func(t *testing.T) { binaryRemembers(t, bin) })
	t.Run("elected", func(t *testing.T) { binaryElects(t, bin) })
}

// running is a lockscope process. Its log is what it writes to stderr.
type running struct {
	*process.Process
	t   *testing.T
	out bytes.Buffer
}

func start(t *testing.T, bin string, args ...string) *running {
	t.Helper()
	p := &running{t: t}
	cmd := exec.Command(bin, args...)
	cmd.Stdout, cmd.Env = &p.out, append(os.Environ(), "NO_COLOR=1")
	var err error
	p.Process, err = process.Start("lockscope", t.TempDir(), cmd)
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, p.Kill()) })
	return p
}

func (p *running) wait() cmdtest.Outcome {
	p.t.Helper()
	select {
	case <-p.Done():
	case <-time.After(30 * time.Second):
		p.t.Fatalf("still running\n%s", p.Log())
	}
	return cmdtest.Outcome{Status: p.ExitCode(), Out: p.out.String(), Err: p.Log()}
}

func (p *running) terminate() cmdtest.Outcome {
	p.t.Helper()
	cmdtest.Must(p.t, p.Err())
	cmdtest.Must(p.t, p.StopWithin(30*time.Second))
	return p.wait()
}

func binaryStatuses(t *testing.T, bin string) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	start(t, bin, "scan", "--redis", s.Addr()).wait().Want(t, ui.ExitIncomplete, "no_match")
	cmdtest.Set(t, c, "lock:leak", "v", 0)
	start(t, bin, cmdtest.Quick("--redis", s.Addr())...).wait().Want(t, ui.ExitFindings, "lock:leak")
	o := start(t, bin, "scan", "--redis", "127.0.0.1:1").wait()
	o.Want(t, ui.ExitError, "127.0.0.1:1", "refused")
	start(t, bin, "nonsense").wait().Want(t, ui.ExitError, "unknown command")
}

func binaryTerminated(t *testing.T, bin string) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Plant(t, c, 2000)
	p := start(t, bin, "scan", "--redis", s.Addr(), "--page-size", "10", "--pause", "50ms", "-o", "json")
	cmdtest.Eventually(t, "pages are read", func() bool {
		return strings.Contains(c.Info(t.Context(), "commandstats").Val(), "cmdstat_scan:calls=")
	})
	o := p.terminate()
	o.Want(t, ui.ExitError)
	var r report.Document
	o.Decode(t, &r)
	if !r.Truncated || r.Status != "error" || len(r.Nodes) != 1 || !r.Nodes[0].Truncated {
		t.Errorf("%+v", r)
	}
}

// url waits until a serve answers.
func (p *running) url() string {
	p.t.Helper()
	found, err := p.Await(p.t.Context(), cmdtest.URLLogged)
	cmdtest.Must(p.t, err)
	return found[0]
}

func binaryServes(t *testing.T, bin string) {
	servers := locktest.Servers(t, 3)
	for _, s := range servers {
		cmdtest.Set(t, cmdtest.Admin(t, s), "lock:order:1001", cmdtest.Ours, time.Hour)
	}
	cmdtest.Set(t, cmdtest.Admin(t, servers[0]), "lock:leak", "v", 0)
	p := start(t, bin, "serve", "--redis", cmdtest.Addrs(servers...), "--web.listen-address", "127.0.0.1:0",
		"--interval", "200ms", "--confirm-after", "20ms", "--export-leaked-keys", "5")
	url := p.url()
	cmdtest.Eventually(t, "the leak is in /metrics", func() bool {
		_, body := cmdtest.Get(t, url+"/metrics")
		return strings.Contains(body, `distributed_lock_scanner_leaked_locks{lock_node="`+servers[0].Addr()+`"} 1`) &&
			strings.Contains(body, `distributed_lock_scanner_leaked_lock_info{key="lock:leak",lock_node="`+
				servers[0].Addr()+
				`"} 1`)
	})
	cmdtest.Eventually(t, "/readyz says yes", func() bool {
		status, _ := cmdtest.Get(t, url+"/readyz")
		return status == http.StatusOK
	})
	if status, _ := cmdtest.Get(t, url+"/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	var state state.State
	cmdtest.Eventually(t, "the lock is at /debug/locks", func() bool {
		_, body := cmdtest.Get(t, url+"/debug/locks")
		if strings.Contains(body, cmdtest.SecretToken) {
			t.Fatalf("a token is at /debug/locks:\n%s", body)
		}
		cmdtest.Must(t, json.Unmarshal([]byte(body), &state))
		return len(state.Held) == 1 && len(state.Nodes) == 3 && state.Nodes[0].Up && state.Nodes[2].Calls > 0
	})
	if h := state.Held[0]; h.Resource != "order:1001" || h.Holder != "worker-7/42" || h.Nodes != 3 ||
		h.Validity == nil {
		t.Errorf("%+v", h)
	}
	cmdtest.Must(t, servers[2].Kill())
	cmdtest.Eventually(t, "/debug/locks tells of a node that is down", func() bool {
		_, body := cmdtest.Get(t, url+"/debug/locks")
		cmdtest.Must(t, json.Unmarshal([]byte(body), &state))
		return !state.Nodes[2].Up && state.Nodes[2].Error != ""
	})
	p.terminate().Want(t, ui.ExitClean)
}

// binaryElects: of two processes one sweeps. After it is killed, the other one does.
func binaryElects(t *testing.T, bin string) {
	servers := locktest.Servers(t, 3)
	cmdtest.VouchFor(t, servers...)
	args := []string{"serve", "--redis", cmdtest.Addrs(servers...), "--web.listen-address", "127.0.0.1:0", "--interval",
		"500ms", "--elect", "--node-timeout", "2s", "--log.level", "debug"}
	passes := func(p *running) bool {
		_, body := cmdtest.Get(t, p.url()+"/metrics")
		return regexp.MustCompile(`(?m)^distributed_lock_scanner_passes_total\{.*\} [1-9]`).MatchString(body)
	}
	first := start(t, bin, args...)
	cmdtest.Eventually(t, "the first sweeps", func() bool { return passes(first) })
	second := start(t, bin, args...)
	cmdtest.Eventually(t, "the second stands by", func() bool {
		return strings.Contains(second.Log(), "standby: another process")
	})
	if passes(second) {
		t.Error("both sweep")
	}
	cmdtest.Must(t, first.Kill())
	cmdtest.Eventually(t, "the second takes over", func() bool { return passes(second) })
	second.terminate().Want(t, ui.ExitClean)
}

// buildStatic builds as the image does, so that both share the work.
func buildStatic(bin string) ([]byte, error) {
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd.CombinedOutput()
}
