//go:build unix

package top

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
)

// terminal is a real one: a tmux server of its own with one window, in which a shell runs.
type terminal struct {
	t      *testing.T
	socket string
}

func newTerminal(t *testing.T, width, height int, environ ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is not installed: apt-get install tmux")
	}
	dir, err := os.MkdirTemp("/tmp", "top") // the path of a socket must be short
	cmdtest.Must(t, err)
	x := &terminal{t, filepath.Join(dir, "tmux")}
	// The terminal reader of bubbletea races with its own end; the models are tested for races without a terminal.
	shell := "env -u NO_COLOR GORACE='exitcode=0 log_path=" + filepath.Join(dir, "race") + "' " + strings.Join(environ, " ") + " PS1='ready$ ' ENV= /bin/sh"
	x.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), shell)
	t.Cleanup(func() {
		x.tmux("kill-server")
		cmdtest.Must(t, os.RemoveAll(dir))
	})
	x.sees("ready$")
	return x
}

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// runs starts lockscope in the shell.
func (x *terminal) runs(args string) {
	x.t.Helper()
	bin, err := os.Executable()
	cmdtest.Must(x.t, err)
	x.types(fmt.Sprintf("%s='%s' %s; echo status $?", argumentsOf, args, bin), "Enter")
}

// types sends text, or keys by their names.
func (x *terminal) types(keys ...string) {
	x.t.Helper()
	x.tmux(append([]string{"send-keys"}, keys...)...)
}

// sees waits until the screen has all of the texts, and returns it.
func (x *terminal) sees(texts ...string) (screen string) {
	x.t.Helper()
	defer func() {
		if x.t.Failed() {
			x.t.Logf("the screen, and what it has scrolled off:\n%s", x.tmux("capture-pane", "-p", "-S", "-"))
		}
	}()
	cmdtest.Eventually(x.t, fmt.Sprintf("the screen shows %q", texts), func() bool {
		screen = x.tmux("capture-pane", "-p")
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
	return screen
}

// child is the process that the shell runs.
func (x *terminal) child() (pid int) {
	x.t.Helper()
	shell := strings.TrimSpace(x.tmux("display", "-p", "#{pane_pid}"))
	all, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	cmdtest.Must(x.t, err)
	for line := range strings.Lines(string(all)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[1] == shell {
			pid, err = strconv.Atoi(fields[0])
			cmdtest.Must(x.t, err)
			return pid
		}
	}
	x.t.Fatal("the shell runs nothing")
	return 0
}

// inFull reports whether a program has the whole screen.
func (x *terminal) inFull() bool {
	return strings.TrimSpace(x.tmux("display", "-p", "#{alternate_on}")) == "1"
}

// ends checks that the terminal is as it was: the shell's screen, with an echo.
func (x *terminal) ends(status int) {
	x.t.Helper()
	x.sees(fmt.Sprintf("status %d", status))
	if x.inFull() {
		x.t.Error("the program has left the terminal with its own screen")
	}
	x.types("stty -a | grep -o ' echo ' | tr -d ' '; echo done", "Enter")
	x.sees("\necho\ndone")
}

// TestTopInATerminal is what a person sees and types, at 80x24.
func TestTopInATerminal(t *testing.T) {
	servers := locktest.Servers(t, 5)
	cmdtest.VouchFor(t, servers...)
	newServices(t, servers).chain()
	x := newTerminal(t, 80, 24, "TERM=xterm-256color")
	x.runs("top --refresh 200ms --redis " + cmdtest.Addrs(servers...))
	screen := x.sees("5 of 5 nodes vote", "4 calls wait for 2 locks", "order:1001", "> order:1001",
		"orders-1", "stock:7", servers[4].Addr(), "q quit")
	t.Log("\n" + screen)
	for line := range strings.Lines(screen) {
		if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
			t.Errorf("more than 80 columns: %s", line)
		}
	}

	if !x.inFull() {
		t.Error("the program writes over what the terminal had")
	}
	x.types("Down")
	x.sees("> stock:7", "stock:7: held by stock-2")
	x.types("Up", "Enter")
	t.Log("\n" + x.sees("held by orders-1 at top/contention_test.go:", "which waits", "for stock:7, held by stock-2",
		"truck-3", "billing-4", "esc back"))
	x.types("Escape")
	x.sees("up/down select")
	x.types("/", "stock", "Enter")
	x.sees("filter: stock", "> stock:7")
	x.types("Escape")
	x.sees("order:1001") // a key that follows an escape at once would be one with alt
	x.types("s")
	x.sees("by longest wait", "order:1001")
	x.types("?")
	x.sees("quarantined   may have forgotten locks", "any key: back")
	x.types("x", "p")
	x.sees("PAUSED")
	x.types("p")

	cmdtest.Must(t, servers[1].Kill())
	cmdtest.Must(t, servers[2].Pause())
	t.Log("\n" + x.sees("3 of 5 nodes vote", "down", "connection refused", "no answer within"))
	x.tmux("resize-window", "-x", "130", "-y", "40")
	x.sees("CLASS", "SLOWEST", "RATE")
	x.tmux("resize-window", "-x", "30", "-y", "6")
	x.sees("lockscope top", "q quit")
	x.types("q")
	x.ends(0)
}

// TestSignalsRestoreTheTerminal also while a node hangs.
func TestSignalsRestoreTheTerminal(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.Must(t, servers[2].Pause())
	x := newTerminal(t, 80, 24, "TERM=xterm-256color")
	x.runs("top --refresh 200ms --redis " + cmdtest.Addrs(servers...))
	x.sees("2 of 3 nodes vote", "Nobody waits for a lock")
	x.types("C-c")
	x.ends(0)
	x.types("clear", "Enter")
	x.runs("top --refresh 200ms --redis " + cmdtest.Addrs(servers...))
	x.sees("2 of 3 nodes vote", "Nobody waits for a lock")
	cmdtest.Must(t, syscall.Kill(x.child(), syscall.SIGTERM))
	x.ends(0)
}

// TestNoColor: the same screen without codes.
func TestNoColor(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	x := newTerminal(t, 100, 20, "TERM=xterm-256color")
	codes := func() bool { return strings.Contains(x.tmux("capture-pane", "-p", "-e"), "\x1b[1m") }
	x.runs("top --refresh 200ms --redis " + server.Addr())
	x.sees("Nobody waits for a lock")
	if !codes() {
		t.Error("nothing is bold where colours are wanted")
	}
	x.types("q")
	x.ends(0)
	x.types("clear; export NO_COLOR=1", "Enter")
	x.runs("top --refresh 200ms --redis " + server.Addr())
	x.sees("Nobody waits for a lock")
	if codes() {
		t.Errorf("codes despite NO_COLOR:\n%q", x.tmux("capture-pane", "-p", "-e"))
	}
	x.types("q")
	x.ends(0)
}
