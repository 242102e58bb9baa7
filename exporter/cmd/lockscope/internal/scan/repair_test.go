package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

func TestRepair(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	log := filepath.Join(t.TempDir(), "audit.log")
	ttl := func(key string) time.Duration { return c.PTTL(t.Context(), key).Val() }
	repair := func(args ...string) cmdtest.Outcome {
		return command(t, cmdtest.Quick(append([]string{"--redis", s.Addr(), "--max-hold", "1h", "--min-age", "0s",
			"--operator", "ada"}, args...)...)...)
	}
	cmdtest.Set(t, c, "lock:a\n", cmdtest.Ours, 0)
	cmdtest.Set(t, c, "lock:b", "8Q5xLzCgV2rEJwJ7yYt7IA==", 0)
	cmdtest.Set(t, c, "lock:long", "8Q5xLzCgV2rEJwJ7yYtSIA==", 100*time.Hour)

	o := repair("--repair", "delete")
	o.Want(t, ui.ExitFindings, `key="lock:a\n"`, "would_do", "dry run")
	o.WantNot(t, cmdtest.SecretToken)
	if n := c.DBSize(t.Context()).Val(); n != 3 {
		t.Errorf("a dry run left %d keys", n)
	}

	repair("--repair", "expire=30m", "--yes").Want(t, ui.ExitError, "name a file with --audit-log")
	if n := c.DBSize(t.Context()).Val(); n != 3 || ttl("lock:a\n") != -1 {
		t.Errorf("without an audit log: %d keys, TTL %v", n, ttl("lock:a\n"))
	}
	repair("--repair", "expire=30m", "--yes", "--audit-log", log).Want(t, ui.ExitFindings, "outcome=done")
	if a, b := ttl("lock:a\n"), ttl("lock:b"); a <= 0 || a > 30*time.Minute || b <= 0 {
		t.Errorf("TTLs %v, %v", a, b)
	}
	if d := ttl("lock:long"); d < 99*time.Hour {
		t.Errorf("a class not asked for was repaired: TTL %v", d)
	}
	repair("--repair", "delete", "--repair-classes", "long_ttl", "--yes", "--audit-log", log).Want(t, ui.ExitFindings,
		"outcome=done")
	if n := c.Exists(t.Context(), "lock:long").Val(); n != 0 {
		t.Error("lock:long is still there")
	}
	text, err := os.ReadFile(log)
	cmdtest.Must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	const first = `key="lock:a\n" class=no_ttl holder="worker-7/42" ttl=never action="expire=30m0s"`
	if len(lines) != 6 || !strings.Contains(lines[0], ` intent operator="ada" node=`) ||
		!strings.HasSuffix(lines[0], first) || !strings.HasSuffix(lines[1], first+" outcome=done") {
		t.Errorf("the audit log has %d lines:\n%s", len(lines), text)
	}
	if strings.Contains(string(text), cmdtest.SecretToken) {
		t.Errorf("the audit log has a token:\n%s", text)
	}
}

// TestRepairStopsWithoutItsLog: without an audit log nothing is repaired.
func TestRepairStopsWithoutItsLog(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	for i, key := range []string{"lock:a", "lock:b", "lock:c"} {
		cmdtest.Set(t, c, key, fmt.Sprintf("8Q5xLzCgV2rEJwJ7yYt%dIA==", i), 0)
	}
	args := cmdtest.Quick("--redis", s.Addr(), "--min-age", "0s", "--repair", "delete", "--yes", "--audit-log")
	command(t, append(args, filepath.Join(t.TempDir(), "missing", "log"))...).Want(t, ui.ExitError, "--audit-log")
	if n := c.DBSize(t.Context()).Val(); n != 3 {
		t.Errorf("%d keys are left of 3", n)
	}
	if _, err := os.Stat("/dev/full"); err == nil { // on Linux opening succeeds and writing fails
		command(t, append(args, "/dev/full")...).Want(t, ui.ExitError, "stopped repairing")
		if n := c.DBSize(t.Context()).Val(); n != 3 {
			t.Errorf("%d keys are left of 3: repaired without a log", n)
		}
	}
}

// TestEnvironmentArmsNoRepair: no variable makes a plain scan repair.
func TestEnvironmentArmsNoRepair(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Set(t, c, "lock:a", cmdtest.Ours, 0)
	o := commandWith(t, []string{"LOCKSCOPE_REPAIR=delete", "LOCKSCOPE_YES=true", "LOCKSCOPE_MIN_AGE=0s"}, "",
		cmdtest.Quick("--redis", s.Addr())...)
	o.Want(t, ui.ExitFindings, "ignored LOCKSCOPE_REPAIR", "ignored LOCKSCOPE_YES",
		"ignored LOCKSCOPE_MIN_AGE")
	o.WantNot(t, "outcome=")
	commandWith(t, []string{"LOCKSCOPE_YES=true"}, "",
		cmdtest.Quick("--redis", s.Addr(), "--min-age", "0s", "--repair", "delete")...).Want(t, ui.ExitFindings,
		"would_do")
	if n := c.DBSize(t.Context()).Val(); n != 1 {
		t.Errorf("%d keys are left of 1", n)
	}
}
