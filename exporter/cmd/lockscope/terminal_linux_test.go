package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

// terminal is a pseudo-terminal, and a program that it controls.
type terminal struct {
	t    *testing.T
	keys *os.File

	mu     sync.Mutex
	screen strings.Builder
	read   int // how much of the screen was awaited
}

// onTerminal starts a program as the leader of a session on a terminal of its own.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	cmdtest.Must(t, err)
	cmdtest.Must(t, unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	cmdtest.Must(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	cmdtest.Must(t, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmdtest.Must(t, cmd.Start())
	cmdtest.Must(t, tty.Close())
	x := &terminal{t: t, keys: keys}
	over := make(chan struct{})
	go func() {
		defer close(over)
		x.watch()
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); <-over; cmdtest.Must(t, keys.Close()) })
	return x
}

// watch reads until no process has the terminal any more.
func (x *terminal) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := x.keys.Read(buf)
		x.mu.Lock()
		x.screen.Write(buf[:n])
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (x *terminal) typed(text string) {
	x.t.Helper()
	_, err := x.keys.WriteString(text)
	cmdtest.Must(x.t, err)
}

// await waits until the screen shows a text, behind what was awaited before.
func (x *terminal) await(text string) {
	x.t.Helper()
	defer func() {
		if x.t.Failed() {
			x.t.Logf("the screen shows\n%s", x.screen.String())
		}
	}()
	cmdtest.Eventually(x.t, text+" is on the screen", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		at := strings.Index(x.screen.String()[x.read:], text)
		if at >= 0 {
			x.read += at + len(text)
		}
		return at >= 0
	})
}

// TestRunOnATerminal: the command reads its keys, and Ctrl-C is for the command. There is no shell, as in a container.
func TestRunOnATerminal(t *testing.T) {
	s := oneServer(t)
	cmd := cmdtest.Lockscope(t, shell(s, `trap 'echo inter""rupted; exit 9' INT; read x; echo "got:$x"; `+
		`while :; do sleep 0.1; done`)...)
	x := onTerminal(t, cmd)
	x.typed("hello\n")
	x.await("got:hello")
	x.typed("\x1a") // nobody could continue it
	x.typed("\x03")
	x.await("interrupted")
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 9 {
		t.Errorf("exit %d", status)
	}
}

// TestRunStopsWhileItStartsAProgram: a shell and its child are one until the child is another program (vfork). A child
// that Ctrl-Z stops before that leaves a shell that has not stopped, and does not go on.
func TestRunStopsWhileItStartsAProgram(t *testing.T) {
	s := oneServer(t)
	const starts = `while :; do /bin/true; /bin/true; echo goes""on; done`
	x := onTerminal(t, cmdtest.Lockscope(t, shell(s, starts)...))
	x.await("goeson")
	for range 20 { // about every third meets such a child
		x.typed("\x1a")
		x.await("^Z")
		x.await("goeson")
	}
	x.typed("\x03")
	x = interactive(t)
	x.typed("$lockscope run nightly --redis " + s.Addr() + " -- sh -c '" + starts + "'\n")
	x.await("goeson")
	for range 10 {
		x.typed("\x1a")
		x.await("Stopped")
		x.typed("fg\n")
		x.await("goeson")
	}
	x.typed("\x03")
}

// interactive is a shell with job control, and lockscope as a word of it.
func interactive(t *testing.T) *terminal {
	t.Helper()
	cmd := cmdtest.Lockscope(t)
	exe := cmd.Path
	cmd.Path, cmd.Args = "/bin/bash", []string{"bash", "--norc", "--noprofile", "-i"}
	cmd.Env = append(cmd.Env, "PS1=$ ", "TERM=dumb", "lockscope="+exe)
	x := onTerminal(t, cmd)
	x.await("$ ")
	return x
}

// TestRunUnderAShell: Ctrl-Z stops the command and lockscope, and fg continues them.
func TestRunUnderAShell(t *testing.T) {
	s := oneServer(t)
	x := interactive(t)
	x.typed("$lockscope run nightly --ttl 30s --redis " + s.Addr() +
		` -- sh -c 'trap "echo goes\"\"on" CONT; echo star""ted; while :; do sleep 0.1; done'` + "\n")
	x.await("started")
	x.typed("\x1a")
	x.await("Stopped")
	x.typed("echo still\"\"here\n")
	x.await("stillhere")
	x.typed("fg\n")
	x.await("goeson") // the shell names the job before it gives it the terminal
	x.typed("\x03")
	x.await("$ ")
	x.typed("echo stat\"\"us=$?.\n")
	x.await("status=130.")
	x.typed("exit\n")
}

// TestRunInAPipeline: the command gets the terminal when it reads it, although its output is piped.
func TestRunInAPipeline(t *testing.T) {
	s := oneServer(t)
	x := interactive(t)
	x.typed("$lockscope run nightly --redis " + s.Addr() + ` -- sh -c 'echo star""ted; read x; echo "got:$x"' | cat` +
		"\n")
	x.await("started")
	x.typed("hello\n")
	x.await("got:hello")
	x.await("$ ")
	x.typed("echo stat\"\"us=${PIPESTATUS[0]}.\n")
	x.await("status=0.")
	x.typed("exit\n")
}

// TestRunStoppedPastItsLock: a command that Ctrl-Z stopped is killed with its lock, without having run again.
func TestRunStoppedPastItsLock(t *testing.T) {
	s := oneServer(t)
	x := interactive(t)
	x.typed("$lockscope run nightly --ttl 2s --redis " + s.Addr() + ` -- sh -c 'echo star""ted; sleep 1; sleep 600'` +
		"\n")
	x.await("started")
	x.typed("\x1a")
	x.await("Stopped")
	x.await("killed its command")
	x.typed("fg\n")
	x.await("$ ")
	x.typed("echo stat\"\"us=$?.\n")
	x.await("status=137.")
	x.typed("exit\n")
}
