package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/notify/alertmanagertest"
)

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
