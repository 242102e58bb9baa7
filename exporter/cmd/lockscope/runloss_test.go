//go:build unix

package main

import (
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// oneServer is a lock by itself.
func oneServer(t *testing.T) *redisproc.Server {
	t.Helper()
	return locktest.Servers(t, 1)[0]
}

// runArgs are a command line of run that is patient with a busy machine.
func runArgs(s []*redisproc.Server, more ...string) []string {
	return append([]string{"run", "nightly", "--redis", cmdtest.Addrs(s...), "--node-timeout", "2s"}, more...)
}

// shell runs a script under the lock of one server.
func shell(s *redisproc.Server, script string, more ...string) []string {
	return append(runArgs([]*redisproc.Server{s}, more...), "--", "sh", "-c", script)
}

// TestRunAtTheSameInstant as cron has it: of many that do not wait, one runs, although they split the votes.
func TestRunAtTheSameInstant(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.VouchFor(t, servers...)
	l := newLife(t)
	const machines = 5
	outcomes := make(chan cmdtest.Outcome, machines)
	for range machines {
		p := cmdtest.Start(t, append(runArgs(servers, "-n"), "--", "sh", "-c", "exec 9>"+l.Path+"; echo runs >&9; exec sleep 600")...)
		go func() { outcomes <- p.Wait() }()
	}
	for range machines - 1 {
		o := <-outcomes
		o.Want(t, 1, `"nightly" is held by `)
	}
	l.Await("runs")
}

// stubborn is a command that says when it is asked to end and goes on, and a grandchild that does not even say that.
func stubborn(l *life) string {
	return "exec 9>" + l.Path + `; trap 'echo guarded >&9' USR1; trap 'echo asked >&9' TERM; ` +
		`(trap "" TERM USR1; while :; do sleep 0.1; done) & echo ready >&9; while :; do sleep 0.1; done`
}

// lossTTL leaves a machine that is busy time to renew.
const lossTTL = 6 * time.Second

// TestRunEndsBeforeTheLock whatever takes the lock away: the command is asked to end, and then killed with all its
// children. The last of them is dead before lockscope says that it is over.
func TestRunEndsBeforeTheLock(t *testing.T) {
	for name, take := range map[string]func(*testing.T, []*redisproc.Server){
		"nodes stopped": func(t *testing.T, servers []*redisproc.Server) {
			for _, s := range servers[:2] {
				cmdtest.Must(t, s.Pause())
				t.Cleanup(func() { cmdtest.Must(t, s.Resume()) })
			}
		},
		"nodes killed": func(t *testing.T, servers []*redisproc.Server) {
			for _, s := range servers[:2] {
				cmdtest.Must(t, s.Kill())
			}
		},
		"lock deleted": func(t *testing.T, servers []*redisproc.Server) {
			for _, s := range servers {
				cmdtest.Must(t, cmdtest.Admin(t, s).Del(t.Context(), "lock:nightly").Err())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, 3)
			cmdtest.VouchFor(t, servers...)
			l := newLife(t)
			r := cmdtest.Start(t, append(runArgs(servers, "--ttl", lossTTL.String(), "--node-timeout", "500ms"),
				"--", "sh", "-c", stubborn(l))...)
			l.Await("ready")
			take(t, servers)
			l.Await("asked")
			o := r.Wait()
			o.Want(t, 137, "ending the command", "killed ", `"nightly" was `, "others may hold it ")
			o.WantNot(t, "watchdog")
			l.AwaitEnd()
		})
	}
}

// TestRunThatRenews is the control: the same command is not asked to end while the nodes answer.
func TestRunThatRenews(t *testing.T) {
	t.Parallel()
	s := oneServer(t)
	l := newLife(t)
	cmdtest.Start(t, shell(s, stubborn(l), "--ttl", lossTTL.String(), "--node-timeout", "500ms")...)
	l.Await("ready")
	lockKey, first := cmdtest.Admin(t, s), time.Now()
	cmdtest.Eventually(t, "the lock outlives three TTLs", func() bool {
		if lockKey.Exists(t.Context(), "lock:nightly").Val() == 0 {
			t.Fatal("the lock is gone")
		}
		return time.Since(first) > 3*lossTTL
	})
	if l.Says("asked") || l.Ended() {
		t.Error("the command was asked to end")
	}
}

// watchdogOf is the process that guards the command of a lockscope.
func watchdogOf(t *testing.T, lockscope int) int {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(lockscope), "-f", "lockscope-watchdog").Output()
	cmdtest.Must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	cmdtest.Must(t, err)
	return pid
}

// TestRunKilled: no process of the command outlives lockscope. The control kills the watchdog, too: the grandchild
// outlives both.
func TestRunKilled(t *testing.T) {
	s := oneServer(t)
	l := newLife(t)
	r := cmdtest.Start(t, shell(s, stubborn(l))...)
	l.Await("ready")
	cmdtest.Must(t, r.Signal(syscall.SIGUSR1)) // lockscope guards the command before it passes signals on
	l.Await("guarded")
	cmdtest.Must(t, r.Kill())
	l.AwaitEnd()
	if l.Says("asked") {
		t.Error("it was asked to end: a command that takes its time may outlive the lock")
	}

	l = newLife(t)
	script := "exec 9>" + l.Path + "; sh -c 'echo pid $$. >&9; exec sleep 600' & wait"
	r = cmdtest.Start(t, shell(s, script, "-w", "1m")...)
	l.Await("pid ")
	cmdtest.Must(t, syscall.Kill(watchdogOf(t, r.PID()), syscall.SIGKILL))
	cmdtest.Must(t, r.Kill())
	grandchild := l.Number("pid ")
	if err := syscall.Kill(grandchild, 0); err != nil {
		t.Errorf("the control shows nothing: %v", err)
	}
	cmdtest.Must(t, syscall.Kill(grandchild, syscall.SIGKILL))
	l.AwaitEnd()
}

// TestRunStopped: a lockscope that is stopped past the end of its lock cannot end its command. The watchdog does,
// before another machine gets the lock.
func TestRunStopped(t *testing.T) {
	t.Parallel()
	s := oneServer(t)
	l := newLife(t)
	r := cmdtest.Start(t, shell(s, stubborn(l))...)
	l.Await("ready")
	cmdtest.Must(t, r.Freeze())
	other := cmdtest.LockingProcess(t, "web-2/7", []*redisproc.Server{s})
	_, err := other.Acquire(t.Context(), "nightly", lock.NoWait())
	if lock.ReasonOf(err) != lock.ReasonHeld {
		t.Fatalf("the lock is not held: %v", err)
	}
	lease, err := other.Acquire(t.Context(), "nightly")
	cmdtest.Must(t, err)
	if !l.Ended() {
		l.AwaitEnd() // says what ran
		t.Error("another machine had the lock while the command ran")
	}
	cmdtest.Must(t, lease.Release(t.Context()))
	if r.PID() == 0 || !r.Running() {
		t.Error("lockscope was not stopped: the test shows nothing")
	}
	cmdtest.Must(t, r.Thaw())
	o := r.Wait()
	o.Want(t, 137, "lockscope did not run when the lock was about to end: killed its command", `"nightly" was lost at `)
	o.WantNot(t, "watchdog", "ending the command", "killed the command")
}

// TestRunCommandStopped: a command that is stopped itself is killed with its lock, and does not go on later.
func TestRunCommandStopped(t *testing.T) {
	servers := locktest.Servers(t, 1)
	l := newLife(t)
	r := cmdtest.Start(t, shell(servers[0], "exec 9>"+l.Path+"; echo pid $$. >&9; sleep 600", "--ttl", "2s",
		"--node-timeout", "500ms")...)
	l.Await("pid ")
	cmdtest.Must(t, process.Freeze(l.Number("pid ")))
	cmdtest.Must(t, servers[0].Kill())
	l.AwaitEnd()
	if o := r.Wait(); o.Status != 137 && o.Status != 143 {
		o.Want(t, 137)
	}
}

// TestRunSignals: the command and its children get them, and its status counts.
func TestRunSignals(t *testing.T) {
	s := oneServer(t)
	l := newLife(t)
	script := "exec 9>" + l.Path + `; (trap 'echo grandchild usr1 >&9' USR1; trap 'exit 0' TERM; echo young >&9; ` +
		`while :; do sleep 0.1; done) & trap 'echo child usr1 >&9' USR1; trap 'echo ended >&9; wait; exit 5' TERM; ` +
		`echo ready >&9; while :; do sleep 0.1; done`
	r := cmdtest.Start(t, shell(s, script)...)
	l.Await("ready")
	l.Await("young")
	cmdtest.Must(t, r.Signal(syscall.SIGUSR1))
	l.Await("child usr1")
	l.Await("grandchild usr1")
	cmdtest.Must(t, r.Signal(syscall.SIGTERM))
	l.Await("ended")
	r.Wait().Want(t, 5)

	lease, err := cmdtest.LockingProcess(t, "web-1/42", []*redisproc.Server{s}).Acquire(t.Context(), "nightly")
	cmdtest.Must(t, err)
	for sig, status := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		if signal.Ignored(sig) {
			continue // by what has started the tests, as nohup does: it stays ignored
		}
		r = cmdtest.Start(t, shell(s, "exit 0")...)
		cmdtest.Eventually(t, "it waits", func() bool {
			waiters := command(t, "list", "--redis", s.Addr(), "--waiters").Out
			return strings.Contains(waiters, "/"+strconv.Itoa(r.PID()))
		})
		cmdtest.Must(t, r.Signal(sig))
		r.Wait().Want(t, status, "stopped by SIG", `while waiting for "nightly"; last try: "nightly" is held by web-1/42 since `)
	}
	cmdtest.Must(t, lease.Release(t.Context()))
}

// TestRunTooLong: the command is asked to end after --max-hold, and killed after --kill-after.
func TestRunTooLong(t *testing.T) {
	s := oneServer(t)
	command(t, shell(s, "exec sleep 600", "--max-hold", "100ms")...).Want(t, 143, "--max-hold")
	l := newLife(t)
	o := command(t, shell(s, stubborn(l), "--max-hold", "500ms", "--kill-after", "300ms")...)
	o.Want(t, 137, "--max-hold", "did not end within 300ms")
	l.AwaitEnd()
}

// TestRunLeavesNothingBehind: a process of the group ends before the lock is released. The control has left the group.
func TestRunLeavesNothingBehind(t *testing.T) {
	s := oneServer(t)
	l, far := newLife(t), newLife(t)
	r := cmdtest.Start(t, shell(s, "(exec 9>"+l.Path+"; exec sleep 600) & (exec 9>"+far.Path+
		"; setsid sh -c 'echo pid $$. >&9; exec sleep 600') & sleep 0.5; exit 4")...)
	r.Wait().Want(t, 4, "left processes behind")
	l.AwaitEnd()
	far.Await("pid ")
	if far.Ended() {
		t.Error("a process of another group has ended, too")
	}
	cmdtest.Must(t, syscall.Kill(far.Number("pid "), syscall.SIGKILL))
	far.AwaitEnd()
}

// TestRunForgottenZombie: a process of the group has died, and its parent, which has left the group, does not wait for it.
func TestRunForgottenZombie(t *testing.T) {
	s := oneServer(t)
	far, left := newLife(t), filepath.Join(t.TempDir(), "left")
	r := cmdtest.Start(t, shell(s, "(exec 9>"+far.Path+"; sleep 600 9>&- & exec setsid sh -c 'echo pid $$. >&9; >"+left+
		"; exec sleep 600') & until [ -e "+left+" ]; do sleep 0.05; done; exit 4", "--kill-after", "100ms")...)
	far.Await("pid ")
	t.Cleanup(func() { cmdtest.Must(t, syscall.Kill(far.Number("pid "), syscall.SIGKILL)); far.AwaitEnd() })
	r.Wait().Want(t, 4, "left processes behind", "did not end within 100ms")
}
