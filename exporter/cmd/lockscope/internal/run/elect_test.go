//go:build unix

package run

import (
	"bytes"
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// fleet is some nodes that vote.
func fleet(t *testing.T) []*redisproc.Server {
	t.Helper()
	servers := locktest.Servers(t, 3)
	cmdtest.VouchFor(t, servers...)
	return servers
}

func electArgs(servers []*redisproc.Server, script string, more ...string) []string {
	all := append([]string{"elect", "scheduler", "--redis", cmdtest.Addrs(servers...), "--node-timeout", "2s"}, more...)
	return append(all, "--", "sh", "-c", script)
}

// TestElectKilled: if a leader is killed, its command is, and another machine leads when the term has run out.
func TestElectKilled(t *testing.T) {
	t.Parallel()
	servers := fleet(t)
	first, second := newLife(t), newLife(t)
	script := func(l *life) string {
		return "exec 9>" + l.Path + "; trap '' TERM; echo running >&9; while :; do sleep 0.1; done"
	}
	r1 := cmdtest.Start(t, electArgs(servers, script(first), "--ttl", "3s", "--node-timeout", "700ms")...)
	first.Await("running")
	r2 := cmdtest.Start(t, electArgs(servers, script(second), "--ttl", "3s", "--node-timeout", "700ms",
		"--kill-after", "200ms")...)
	cmdtest.Eventually(t, "the second stands by", func() bool { return strings.Contains(r2.Log(), "standby") })
	cmdtest.Must(t, r1.Kill())
	first.AwaitEnd()
	second.Await("running")
	cmdtest.Must(t, r2.Signal(syscall.SIGTERM))
	r2.Wait().Want(t, ui.ExitClean, "killed the command")
	second.AwaitEnd()
}

// TestElectSignalledBeforeItListens: a signal that comes while lockscope starts counts, and nobody leads.
func TestElectSignalledBeforeItListens(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&child.SignalError{Signal: syscall.SIGTERM})
	var out, errOut bytes.Buffer
	status := lockscope(ctx, electArgs(fleet(t), "echo leads"), nil, nil, &out, &errOut)
	cmdtest.Outcome{Status: status, Out: out.String(), Err: errOut.String()}.Want(t, ui.ExitClean, "ended")
	if out.Len() > 0 {
		t.Error("the command ran")
	}
}

// TestBackoff doubles until a run is as long as the longest pause.
func TestBackoff(t *testing.T) {
	c := &candidate{backoff: time.Second, maxBackoff: 5 * time.Second}
	short, good := child.Result{Ran: 4 * time.Second}, child.Result{Ran: 5 * time.Second}
	pause := time.Duration(0)
	for i, step := range []struct {
		run  child.Result
		want time.Duration
	}{
		{short, time.Second}, {short, 2 * time.Second}, {short, 4 * time.Second}, {short, 5 * time.Second},
		{short, 5 * time.Second}, {good, time.Second}, {short, 2 * time.Second},
	} {
		if pause = c.next(pause, step.run); pause != step.want {
			t.Errorf("run %d: a pause of %v, want %v", i+1, pause, step.want)
		}
	}
}
