//go:build unix

package operator

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// wantLines checks that a file has one line for each text, in this order.
func wantLines(t *testing.T, file string, texts ...string) {
	t.Helper()
	content, err := os.ReadFile(file)
	cmdtest.Must(t, err)
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) != len(texts) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(texts), content)
	}
	for i, text := range texts {
		if !strings.Contains(lines[i], text) {
			t.Errorf("line %d has no %q: %s", i+1, text, lines[i])
		}
	}
}

// TestHoldSignalledBeforeItListens: a signal that comes while lockscope starts counts.
func TestHoldSignalledBeforeItListens(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&child.SignalError{Signal: syscall.SIGINT})
	var out, errOut bytes.Buffer
	status := lockscope(ctx, []string{"hold", "nightly", "--reason", "disk swap", "--operator", "ann", "--audit-log",
		filepath.Join(t.TempDir(), "log"), "--redis", locktest.Servers(t, 1)[0].Addr()}, nil, nil, &out, &errOut)
	cmdtest.Outcome{Status: status, Out: out.String(), Err: errOut.String()}.Want(t, 130, "stopped by SIGINT")
	if out.Len() > 0 {
		t.Error("it held the lock")
	}
}

// TestHold: others read who holds the lock and why, and get it after ctrl-c. Everything is on disk.
func TestHold(t *testing.T) {
	servers, home := locktest.Servers(t, 3), t.TempDir()
	cmdtest.VouchFor(t, servers...)
	on := []string{"--redis", cmdtest.Addrs(servers...), "--node-timeout", "2s"}
	h := cmdtest.StartWith(t, func(c *exec.Cmd) {
		c.Env = append(c.Env, "USER=ann", "HOME="+home, "XDG_STATE_HOME=")
	}, slices.Concat([]string{"hold", "nightly", "--reason", "disk swap", "--for", "2h", "--ttl", "30s"}, on)...)
	h.Says(`"nightly" is held by ann@`)
	lockscope.Command(t, slices.Concat([]string{"run", "nightly", "-n"}, on, []string{"--", "true"})...).
		Want(t, 1, `"nightly" is held by ann@`, ", reason: disk swap")
	lockscope.Command(t, "list", "--redis", cmdtest.Addrs(servers...)).Want(t, 0, "nightly", "ann@", "(reason: disk swap)")
	lockscope.Command(t, slices.Concat([]string{"hold", "nightly", "-n", "--reason", "me, too", "--audit-log",
		filepath.Join(home, "other")}, on)...).Want(t, ui.ExitFindings, "(reason: disk swap)")
	cmdtest.Must(t, h.Signal(syscall.SIGINT))
	h.Wait().Want(t, ui.ExitClean, `"nightly" is released`)
	lockscope.Command(t, slices.Concat([]string{"run", "nightly", "-n"}, on, []string{"--", "true"})...).Want(t, 0)
	wantLines(t, filepath.Join(home, ".local/state/lockscope/audit.log"),
		`intent operator="ann@`, "hold operator=", ` outcome=released`)
	wantLines(t, filepath.Join(home, "other"), ` act=hold resource="nightly" for=1h0m0s reason="me, too"`, "outcome=failed")
}

// TestHoldEnds by itself, and the lock is free at once.
func TestHoldEnds(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	log := filepath.Join(t.TempDir(), "audit.log")
	args := []string{"hold", "nightly", "--reason", "a test", "--audit-log", log, "--node-timeout", "2s", "--redis", s.Addr()}
	lockscope.Command(t, append(args, "--for", "50ms", "--ttl", "1m")...).Want(t, 0, `"nightly" is released`)
	if n := cmdtest.Admin(t, s).Exists(t.Context(), "lock:nightly").Val(); n != 0 {
		t.Error("the lock is still there")
	}
	wantLines(t, log, `act=hold resource="nightly" for=50ms reason="a test"`, `outcome=held fence=`, `outcome=released`)
}

// TestHoldIsLost: it says when, which nodes did not renew the lock, and what that means.
func TestHoldIsLost(t *testing.T) {
	started := locktest.Servers(t, 3)
	cmdtest.VouchFor(t, started...)
	h := cmdtest.Start(t, "hold", "nightly", "--reason", "disk swap", "--audit-log", filepath.Join(t.TempDir(), "log"),
		"--ttl", "2s", "--node-timeout", "500ms", "--redis", cmdtest.Addrs(started...))
	h.Says(`"nightly" is held by `)
	cmdtest.Must(t, errors.Join(started[0].Kill(), started[1].Kill()))
	h.Wait().Want(t, servers.ExitNoLock, `"nightly" was lost at `, started[0].Addr(), started[1].Addr(),
		"others may hold it now")
}

// TestHoldIsRevoked: it ends, and says who revoked it and why.
func TestHoldIsRevoked(t *testing.T) {
	started, dir := locktest.Servers(t, 3), t.TempDir()
	cmdtest.VouchFor(t, started...)
	on := []string{"--redis", cmdtest.Addrs(started...), "--node-timeout", "500ms"}
	held, revoked := filepath.Join(dir, "held"), filepath.Join(dir, "revoked")
	h := cmdtest.Start(t, slices.Concat([]string{"hold", "nightly", "--reason", "disk swap", "--ttl", "6s",
		"--operator", "ann", "--audit-log", held}, on)...)
	h.Says("is held by ann")
	var o cmdtest.Outcome
	cmdtest.Eventually(t, "the lease is revoked", func() bool { // a busy machine may not answer in time
		o = lockscope.Command(t, slices.Concat([]string{"revoke", "nightly", "--reason", "swap is over", "--operator", "bob",
			"--audit-log", revoked}, on)...)
		return o.Status == 0 || o.Status != servers.ExitNoLock
	})
	o.Want(t, 0, `"nightly" is held by ann since `, " of 3 nodes refuse to renew it", "the lock is free at the latest in ")
	h.Wait().Want(t, servers.ExitNoLock, `"nightly" was revoked by bob at `, "swap is over")
	wantLines(t, held, `act=hold`, `outcome=held`, `was revoked by bob`)
	content, err := os.ReadFile(revoked)
	cmdtest.Must(t, err)
	for _, text := range []string{
		`intent operator="bob" act=revoke resource="nightly" holder="ann" since=`, `reason="swap is over"`,
		`revoke operator="bob" resource="nightly" outcome=revoked marked=`,
	} {
		if !strings.Contains(string(content), text) {
			t.Errorf("no %q in\n%s", text, content)
		}
	}
}

// TestRunIsRevoked: a command ends, and lockscope says why, also if the command is gone at once.
func TestRunIsRevoked(t *testing.T) {
	t.Run("redis", func(t *testing.T) {
		servers := locktest.Servers(t, 3)
		cmdtest.VouchFor(t, servers...)
		runRevoked(t, "--redis", cmdtest.Addrs(servers...))
	})
	t.Run("zookeeper", func(t *testing.T) {
		runRevoked(t, "--zookeeper", strings.Join(cmdtest.ZooKeeper(t, 1).Addrs(), ","))
	})
}

func runRevoked(t *testing.T, servers ...string) {
	on := append(servers, "--node-timeout", "500ms")
	r := cmdtest.Start(t, slices.Concat([]string{"run", "nightly", "--ttl", "6s"}, on, []string{"--", "sh", "-c",
		"echo begun; exec sleep 60"})...)
	r.Says("begun")
	revoke := slices.Concat([]string{"revoke", "nightly", "--reason", "it hangs", "--operator", "bob", "--audit-log",
		filepath.Join(t.TempDir(), "log")}, on)
	cmdtest.Eventually(t, "the lease is revoked", func() bool { return lockscope.Command(t, revoke...).Status == 0 })
	r.Wait().Want(t, 128+int(syscall.SIGTERM), `"nightly" was revoked by bob at `, "it hangs: ending the command")
	lockscope.Command(t, slices.Concat([]string{"run", "nightly", "-n"}, on, []string{"--", "true"})...).Want(t, 0)
}

// TestHoldIsRefused before anything is done.
func TestHoldIsRefused(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	log := filepath.Join(t.TempDir(), "audit.log")
	args := func(more ...string) []string {
		return append([]string{"hold", "nightly", "--redis", s.Addr(), "--for", "1ms", "--node-timeout", "2s"}, more...)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no reason":      {args("--audit-log", log), "--reason is missing"},
		"a long reason":  {args("--audit-log", log, "--reason", strings.Repeat("x", 257)), "use 256 at most"},
		"a bad operator": {args("--audit-log", log, "--reason", "why", "--operator", "a\nb"), "--operator"},
		"no audit log":   {args("--audit-log", t.TempDir(), "--reason", "why"), "--audit-log"},
		"no time":        {args("--audit-log", log, "--reason", "why", "--for", "0s"), "--for"},
		"wait and not":   {args("--audit-log", log, "--reason", "why", "-n", "-w", "1s"), "--no-wait"},
		"two names":      {args("--audit-log", log, "--reason", "why", "other"), "the name of one lock"},
	} {
		t.Run(name, func(t *testing.T) { lockscope.Command(t, c.args...).Want(t, ui.ExitError, c.says) })
	}
	if n := cmdtest.Admin(t, s).DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys were written", n)
	}
	lockscope.With(t, []string{"USER=ann"}, "", args("--reason", "why")...).
		Want(t, ui.ExitError, "name a file with --audit-log")
}

// TestHoldOnEverySystem: a service that is refused reads the reason.
func TestHoldOnEverySystem(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (flags []string, service *engine.Engine){
		"postgres": func(t *testing.T) ([]string, *engine.Engine) {
			s := cmdtest.Postgres(t)
			return []string{"--postgres", s.URL("service")}, cmdtest.PostgresLocker(t, s, "web-1/42")
		},
		"etcd": func(t *testing.T) ([]string, *engine.Engine) {
			c, client := cmdtest.Etcd(t, 1)
			return []string{"--etcd", strings.Join(c.Endpoints(), ",")}, cmdtest.EtcdLocker(t, client, "web-1/42")
		},
		"zookeeper": func(t *testing.T) ([]string, *engine.Engine) {
			e := cmdtest.ZooKeeper(t, 1)
			return []string{"--zookeeper", strings.Join(e.Addrs(), ",")}, cmdtest.ZooKeeperLocker(t, e, "web-1/42")
		},
	} {
		t.Run(name, func(t *testing.T) {
			flags, service := open(t)
			log := []string{"--reason", "disk swap", "--operator", "ann", "--node-timeout", "2s", "--audit-log",
				filepath.Join(t.TempDir(), "audit.log")}
			h := cmdtest.Start(t, slices.Concat([]string{"hold", "nightly"}, flags, log)...)
			h.Says("is held by ann")
			_, err := service.Acquire(t.Context(), "nightly", lock.NoWait())
			held, ok := errors.AsType[*lock.HeldError](err)
			if !ok || held.Holder.Instance != "ann" || held.Holder.Reason != "disk swap" {
				t.Errorf("the service receives %v", err)
			}
			cmdtest.Must(t, h.Signal(syscall.SIGTERM))
			h.Wait().Want(t, 0, "is released")
			lease, err := service.Acquire(t.Context(), "nightly", lock.NoWait())
			cmdtest.Must(t, err)
			cmdtest.Must(t, lease.Release(t.Context()))
		})
	}
}
