package scan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestScansRemember runs scans over a lock whose value does not tell its age: the first of them cannot tell it either.
func TestScansRemember(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	state := filepath.Join(t.TempDir(), "state.json")
	cmdtest.Must(t, c.HSet(t.Context(), "lock:redisson", "8743c9c0-0795-4907-87fd-6c719a6b4586:7", 1).Err())
	cmdtest.Must(t, c.Expire(t.Context(), "lock:redisson", time.Minute).Err())
	scan := func() cmdtest.Outcome {
		return command(t, "scan", "--redis", s.Addr(), "--state", state, "--max-hold", "2s", "--confirm-after", "10ms")
	}
	scan().Want(t, ui.ExitClean)
	var last cmdtest.Outcome
	cmdtest.Eventually(t, "a later run knows for how long it is held", func() bool {
		time.Sleep(60 * time.Millisecond) // between two runs of cron
		last = scan()
		return last.Status != ui.ExitClean
	})
	last.Want(t, ui.ExitFindings, "held_too_long", "lock:redisson")
	command(t, "scan", "--redis", s.Addr(), "--state", filepath.Join(state, "x")).Want(t, ui.ExitError, "--state")
	command(t, "scan", "--redis", s.Addr(), "--state", "redis:cron", "--confirm-after", "0s").Want(t, ui.ExitClean)
	if c.Exists(t.Context(), "lockscope:scanner:memory:cron").Val() != 1 {
		t.Error("nothing is kept in Redis")
	}
	cmdtest.Must(t, os.WriteFile(state, []byte("x"), 0o600))
	scan().Want(t, ui.ExitError, "load memory", "remove it")
}

// TestQuietJSON prints a document even if there are no findings: JSON was asked for, so a program reads it.
func TestQuietJSON(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, s), "lock:a", "8Q5xLzCgV2rEJwJ7yYtSIA==", time.Minute)
	o := command(t, "scan", "--redis", s.Addr(), "-q", "-o", "json")
	o.Want(t, ui.ExitClean)
	var d report.Document
	cmdtest.Must(t, json.Unmarshal([]byte(o.Out), &d))
	if d.Status != wordClean || !d.Complete {
		t.Errorf("%+v", d)
	}
	if o := command(t, "scan", "--redis", s.Addr(), "-q"); o.Out != "" {
		t.Errorf("quiet, and says %q", o.Out)
	}
}

func TestLabelsAreForAlerts(t *testing.T) {
	command(t, "scan", "--redis", "127.0.0.1:1", "--label", "team=payments").Want(t, ui.ExitError, "--label",
		"--alertmanager")
	command(t, "scan", "--redis", "127.0.0.1:1", "--label", "alertname=x", "--alertmanager",
		"http://127.0.0.1:1").Want(t,
		ui.ExitError, "alertname")
}
