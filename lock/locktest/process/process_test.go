//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func shell(t *testing.T, script string) *Process {
	t.Helper()
	return start(t, t.TempDir(), exec.Command("/bin/sh", "-c", script))
}

func start(t *testing.T, dir string, cmd *exec.Cmd) *Process {
	t.Helper()
	p, err := Start("shell", dir, cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestAwaitAndStop(t *testing.T) {
	p := shell(t, "echo listening on 1234; exec sleep 600")
	found, err := p.Await(t.Context(), regexp.MustCompile(`listening on (\d+)`))
	if err != nil || found[1] != "1234" {
		t.Fatal(found, err)
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}
	if err := p.Err(); !errors.Is(err, ErrExited) {
		t.Error(err)
	}
}

func TestAwaitOfWhatHasExited(t *testing.T) {
	p := shell(t, "echo no such option; exit 3")
	_, err := p.Await(t.Context(), regexp.MustCompile("listening"))
	if !errors.Is(err, ErrExited) || !strings.Contains(err.Error(), "exit status 3") ||
		!strings.Contains(err.Error(), "no such option") {
		t.Error(err)
	}
	if _, err := p.Await(t.Context(), regexp.MustCompile("no such (.*)")); err != nil {
		t.Errorf("what was said before it ended is not found: %v", err)
	}
}

func TestAwaitEndsWithContext(t *testing.T) {
	p := shell(t, "exec sleep 600")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Await(ctx, regexp.MustCompile("listening")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestNoSuchBinary(t *testing.T) {
	for _, bin := range []string{"/no/such/binary", "no-such-binary"} {
		if p, err := Start("nothing", t.TempDir(), exec.Command(bin)); err == nil {
			t.Error("started", p.Kill())
		}
	}
}

// TestCommand: fields that the command sets about its run are kept, the others are filled in.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", `read line; echo "$line $NAME"; pwd >&2; exit 3`)
	cmd.Env, cmd.Stdin, cmd.Stdout = []string{"NAME=Ada"}, strings.NewReader("hello\n"), &out
	p := start(t, dir, cmd)
	<-p.Done()
	if out.String() != "hello Ada\n" || p.ExitCode() != 3 || p.Running() {
		t.Errorf("it said %q and ended with %d", &out, p.ExitCode())
	}
	if here, err := filepath.EvalSymlinks(dir); err != nil || p.Log() != here+"\n" {
		t.Errorf("the log is %q, want %q, %v", p.Log(), here, err)
	}
	if err := p.Signal(os.Interrupt); !errors.Is(err, ErrExited) {
		t.Error(err)
	}
}

// TestLogOfThisRun: a run does not use log lines of an earlier run.
func TestLogOfThisRun(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir, exec.Command("/bin/sh", "-c", "echo listening on 1"))
	<-first.Done()
	second := start(t, dir, exec.Command("/bin/sh", "-c", "echo listening on 2"))
	found, err := second.Await(t.Context(), regexp.MustCompile(`listening on (\d+)`))
	if err != nil || found[1] != "2" || second.Log() != "listening on 2\n" {
		t.Error(found, err, second.Log())
	}
}

func TestStopOfWhatDoesNotEnd(t *testing.T) {
	p := shell(t, "trap '' TERM; echo deaf; while :; do sleep 1; done")
	if _, err := p.Await(t.Context(), regexp.MustCompile("deaf")); err != nil {
		t.Fatal(err)
	}
	if code := p.ExitCode(); code != -1 {
		t.Errorf("exit %d while it runs", code)
	}
	err := p.StopWithin(100 * time.Millisecond)
	if !errors.Is(err, ErrKilled) || !strings.Contains(err.Error(), "deaf") || p.Running() || p.ExitCode() != -1 {
		t.Errorf("%v, exit %d", err, p.ExitCode())
	}
}

// TestStopOfFrozen: a frozen program ends in its own way.
func TestStopOfFrozen(t *testing.T) {
	p := shell(t, "trap 'exit 7' TERM; echo ready; while :; do sleep 0.02; done")
	if _, err := p.Await(t.Context(), regexp.MustCompile("ready")); err != nil {
		t.Fatal(err)
	}
	if err := p.Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil || p.ExitCode() != 7 {
		t.Errorf("%v, exit %d", err, p.ExitCode())
	}
	for _, act := range []func() error{p.Freeze, p.Thaw} {
		if err := act(); !errors.Is(err, ErrExited) {
			t.Error(err)
		}
	}
}

// TestFreeze: a frozen process writes nothing and goes on when it may. After Freeze has halted a process, it writes
// nothing more.
func TestFreeze(t *testing.T) {
	p := shell(t, "while :; do echo tick; sleep 0.02; done")
	if _, err := p.Await(t.Context(), regexp.MustCompile("tick\ntick")); err != nil {
		t.Fatal(err)
	}
	for name, own := range map[string]bool{"own": true, "any": false} {
		freeze, thaw := p.Freeze, p.Thaw
		if !own {
			freeze, thaw = func() error { return Freeze(p.PID()) }, func() error { return Thaw(p.PID()) }
		}
		if err := freeze(); err != nil {
			t.Fatal(name, err)
		}
		last := p.Log()
		before := still(t, p)
		if own && before != last {
			t.Errorf("Freeze returned before the process had halted: %q, then %q", last, before)
		}
		if err := thaw(); err != nil {
			t.Fatal(name, err)
		}
		if _, err := p.Await(t.Context(), regexp.MustCompile(regexp.QuoteMeta(before)+"tick\n")); err != nil {
			t.Error(name, err)
		}
	}
}

// still returns the log once it has not grown for a while.
func still(t *testing.T, p *Process) string {
	t.Helper()
	last := p.Log()
	for range 100 {
		time.Sleep(100 * time.Millisecond)
		now := p.Log()
		if now == last {
			return now
		}
		last = now
	}
	t.Fatal("a frozen process goes on writing")
	return ""
}
