//go:build unix

package run

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

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

// leader is a command that runs until SIGTERM, and reports if another one runs at the same time.
func leader(l *cmdtest.Life, dir string) string {
	return "exec 9>" + l.Path + "; mkdir " + dir + " || echo overlap >&9; " +
		"trap 'rmdir " + dir + `; echo ended >&9; exit 0' TERM; ` +
		`echo "term $LOCKSCOPE_TERM. fence $LOCKSCOPE_FENCE." >&9; while :; do sleep 0.05; done`
}

// TestElectHandsOver: of two machines one runs the command. After SIGTERM its command ends, and then the other one
// starts.
func TestElectHandsOver(t *testing.T) {
	servers, dir := fleet(t), filepath.Join(t.TempDir(), "running")
	first, second := cmdtest.NewLife(t), cmdtest.NewLife(t)
	r1 := cmdtest.Start(t, electArgs(servers, leader(first, dir))...)
	first.Await("term ")
	r2 := cmdtest.Start(t, electArgs(servers, leader(second, dir))...)
	cmdtest.Eventually(t, "the second stands by", func() bool { return strings.Contains(r2.Log(), "standby") })
	if second.Says("term ") {
		t.Fatal("both lead")
	}
	began := time.Now()
	cmdtest.Must(t, r1.Signal(syscall.SIGTERM))
	second.Await("term ")
	t.Logf("the second machine ran the command %v after SIGTERM", time.Since(began))
	first.AwaitEnd()
	r1.Wait().Want(t, ui.ExitClean, "the command has ended", "ended")
	if !first.Says("ended") || second.Says("overlap") {
		t.Error("the second command began before the first had ended")
	}
	if was, is := first.Number("fence "), second.Number("fence "); is <= was {
		t.Errorf("terms %d, then %d", was, is)
	}
	cmdtest.Must(t, r2.Signal(syscall.SIGINT)) // the command does not handle it
	second.AwaitEnd()
	r2.Wait().Want(t, ui.ExitClean)
}

// TestElectLeavesNothing: machines that are stopped at the same time leave neither a lock nor a waiter behind, or the
// next leader would wait for them.
func TestElectLeavesNothing(t *testing.T) {
	t.Parallel()
	servers := fleet(t)
	var nodes []*redis.Client
	for _, s := range servers {
		nodes = append(nodes, cmdtest.Admin(t, s))
	}
	var all []*cmdtest.Started
	for i := range 3 {
		l := cmdtest.NewLife(t)
		all = append(all, cmdtest.Start(t, electArgs(servers, "exec 9>"+l.Path+"; echo running >&9; exec sleep 60")...))
		if i == 0 {
			l.Await("running")
		}
	}
	cmdtest.Eventually(t, "two are in the queue", func() bool {
		waiters := 0
		for _, node := range nodes {
			waiters += int(node.ZCard(t.Context(), "lockscope:queue:{lock:scheduler}").Val())
		}
		return waiters == 2
	})
	for _, r := range all {
		cmdtest.Must(t, r.Signal(syscall.SIGINT))
	}
	for _, r := range all {
		r.Wait().Want(t, ui.ExitClean)
	}
	for i, node := range nodes {
		for _, key := range node.Keys(t.Context(), "*").Val() {
			if strings.Contains(key, "scheduler") {
				t.Errorf("node %d: %s is left", i, key)
			}
		}
	}
}

// TestElectKilled: if a leader is killed, its command is, and another machine leads when the term has run out.
func TestElectKilled(t *testing.T) {
	t.Parallel()
	servers := fleet(t)
	first, second := cmdtest.NewLife(t), cmdtest.NewLife(t)
	script := func(l *cmdtest.Life) string {
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

// TestElectLost: a leader that loses its term ends the command and campaigns again.
func TestElectLost(t *testing.T) {
	t.Parallel()
	servers, dir := fleet(t), filepath.Join(t.TempDir(), "running")
	l := cmdtest.NewLife(t)
	r := cmdtest.Start(t, electArgs(servers, leader(l, dir), "--ttl", "2s", "--node-timeout", "500ms")...)
	l.Await("term ")
	first := l.Number("fence ")
	node := cmdtest.Admin(t, servers[0])
	for _, s := range servers {
		cmdtest.Must(t, cmdtest.Admin(t, s).Del(t.Context(), "lock:scheduler").Err())
	}
	l.Await("ended")
	cmdtest.Eventually(t, "it leads again", func() bool { return strings.Count(r.Log(), "leading") == 2 })
	cmdtest.Eventually(t, "each node has its lock", func() bool { // a quorum had it before
		return node.Exists(t.Context(), "lock:scheduler").Val() == 1
	})
	if first == 0 {
		t.Error("the first term had no fence")
	}
	cmdtest.Must(t, r.Signal(syscall.SIGTERM))
	r.Wait().Want(t, ui.ExitClean, "the lock is lost")
}

// TestElectRestarts: a command that ends is started again, in the same term.
func TestElectRestarts(t *testing.T) {
	servers := fleet(t)
	r := cmdtest.Start(t, electArgs(servers, "exit 3", "--backoff", "20ms", "--max-backoff", "40ms")...)
	cmdtest.Eventually(t, "it was started four times", func() bool {
		return strings.Count(r.Log(), `"status": 3`) >= 4
	})
	if n := strings.Count(r.Log(), "leading"); n != 1 {
		t.Errorf("%d terms", n)
	}
	cmdtest.Must(t, r.Signal(syscall.SIGTERM))
	r.Wait().Want(t, ui.ExitClean)
	run := lockscope.Command(t, "elect", "scheduler", "--redis", servers[0].Addr(), "--", "/no/such/program")
	run.Want(t, child.ExitNotFound, "cannot run")
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
