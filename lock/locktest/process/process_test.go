//go:build unix

package process

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func shell(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start("shell", t.TempDir(), "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
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
	if !errors.Is(err, ErrExited) || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no such option") {
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
	if p, err := Start("nothing", t.TempDir(), "/no/such/binary"); err == nil {
		p.Kill()
		t.Error("started")
	}
}

// TestFreeze sees that a frozen process writes nothing, and goes on when it may.
func TestFreeze(t *testing.T) {
	p := shell(t, "while :; do echo tick; sleep 0.02; done")
	if _, err := p.Await(t.Context(), regexp.MustCompile("tick\ntick")); err != nil {
		t.Fatal(err)
	}
	pid := p.cmd.Process.Pid
	if err := Freeze(pid); err != nil {
		t.Fatal(err)
	}
	before := still(t, p)
	if err := Thaw(pid); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Await(t.Context(), regexp.MustCompile(regexp.QuoteMeta(before)+"tick\n")); err != nil {
		t.Error(err)
	}
}

// still returns the log once it has not grown for a while.
func still(t *testing.T, p *Process) string {
	t.Helper()
	last := logOf(t, p)
	for range 100 {
		time.Sleep(100 * time.Millisecond)
		now := logOf(t, p)
		if now == last {
			return now
		}
		last = now
	}
	t.Fatal("a frozen process goes on writing")
	return ""
}

func logOf(t *testing.T, p *Process) string {
	t.Helper()
	found, err := p.Await(t.Context(), regexp.MustCompile(`(?s)^.*\n`))
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}
