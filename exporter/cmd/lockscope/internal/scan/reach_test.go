package scan

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/scanner/notify/alertmanagertest"
)

func TestScanReadsReplicas(t *testing.T) {
	master := locktest.Servers(t, 1, redisproc.WithArgs("--repl-diskless-sync-delay", "0"))[0]
	replica := locktest.Servers(t, 1, redisproc.WithArgs("--replicaof", strings.Replace(master.Addr(), ":", " ", 1)))[0]
	cmdtest.Set(t, cmdtest.Admin(t, master), "lock:leak", "v", 0)
	rc := cmdtest.Admin(t, replica)
	cmdtest.Eventually(t, "the replica has the key", func() bool { return rc.DBSize(t.Context()).Val() == 1 })
	command(t, cmdtest.Quick("--redis", master.Addr(), "--replica", replica.Addr())...).Want(t, ui.ExitFindings,
		"lock:leak", master.Addr())
	if stats := rc.Info(t.Context(), "commandstats").Val(); !strings.Contains(stats, "cmdstat_scan:calls=") {
		t.Errorf("the replica was not read:\n%s", stats)
	}
}

// TestScanAlerts sends to a real Alertmanager.
func TestScanAlerts(t *testing.T) {
	am := alertmanagertest.Start(t)
	s := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, s), "lock:leak", cmdtest.Ours, 0)
	command(t, cmdtest.Quick("--redis", s.Addr(), "--alertmanager", am.URL(), "--every", "30m")...).Want(t,
		ui.ExitFindings)
	alertmanagertest.Await(t, "the alert fires", func() bool { return len(am.Alerts(t)) == 1 })
	alert := am.Alerts(t)[0]
	if text := fmt.Sprint(alert); !strings.Contains(text, "lock:leak") || !strings.Contains(text, s.Addr()) ||
		strings.Contains(text, cmdtest.SecretToken) {
		t.Errorf("%s", text)
	}
	if left := time.Until(alert.EndsAt); left < time.Hour || left > 2*time.Hour+time.Minute {
		t.Errorf("the alert ends in %v, not four times --every from now", left)
	}
}

// TestShortForms of server names and durations.
func TestShortForms(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	s := locktest.Servers(t, 1, redisproc.WithArgs("--unixsocket", socket))[0]
	cmdtest.Set(t, cmdtest.Admin(t, s), "lock:day", "v", 20*time.Hour)
	for name, args := range map[string][]string{"unix://": {"--redis", "unix://" + socket},
		"path": {"--redis", socket}} {
		t.Log(name)
		command(t, cmdtest.Quick(append(args, "--max-ttl", "1d")...)...).Want(t, ui.ExitClean, "1 key matches")
		command(t, cmdtest.Quick(append(args, "--max-ttl", "0.5h")...)...).Want(t, ui.ExitFindings, "long_ttl")
	}
	commandWith(t, []string{"REDIS_URL=redis://" + s.Addr(), "LOCKSCOPE_MAX_TTL=2d"}, "", cmdtest.Quick()...).Want(t,
		ui.ExitClean, s.Addr())
	o := commandWith(t, []string{"REDIS_URL=redis://u:s3cr3t@h:x1"}, "", cmdtest.Quick()...)
	o.Want(t, ui.ExitError, "Redis URL 1")
	o.WantNot(t, "s3cr3t")
	commandWith(t, []string{"REDIS_URL=redis://127.0.0.1:1"}, "",
		cmdtest.Quick("--redis", s.Addr(), "--max-ttl", "1d")...).Want(t, ui.ExitClean)
}
