package cmdtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/lock/locktest/process"
)

// self is set in the environment of a test binary that is to be lockscope.
const self = "LOCKSCOPE_TEST_IS_LOCKSCOPE=1"

// MainOrLockscope is Main, unless Start started this test binary: then it is lockscope.
func MainOrLockscope(m *testing.M, lockscope Program) {
	if child.IsWatchdog(os.Args) {
		os.Exit(child.WatchdogMain(os.Stdin, os.Stderr))
	}
	if os.Getenv(strings.TrimSuffix(self, "=1")) == "" {
		Main(m)
		return
	}
	redis.SetLogger(&logging.VoidLogger{})
	os.Exit(lockscope(child.Context(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// Started is a lockscope process: this test binary once more. Its log is what it writes to stderr.
type Started struct {
	*process.Process
	t   testing.TB
	out *os.File
}

// Start starts lockscope with these arguments. It ends with the test.
func Start(t testing.TB, args ...string) *Started {
	t.Helper()
	dir := t.TempDir()
	out, err := os.CreateTemp(dir, "stdout")
	Must(t, err)
	t.Cleanup(func() { _ = out.Close() })
	cmd := Lockscope(t, args...)
	cmd.Stdout = out
	r := &Started{t: t, out: out}
	r.Process, err = process.Start("lockscope", dir, cmd)
	Must(t, err)
	t.Cleanup(func() { Must(t, r.Kill()) })
	return r
}

// Lockscope is this test binary as lockscope, with these arguments.
func Lockscope(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	Must(t, err)
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), self, "NO_COLOR=1")
	return cmd
}

// Out is what it has written to standard output so far.
func (r *Started) Out() string {
	text, err := os.ReadFile(r.out.Name())
	Must(r.t, err)
	return string(text)
}

// Wait waits until it has ended.
func (r *Started) Wait() Outcome {
	r.t.Helper()
	select {
	case <-r.Done():
	case <-time.After(time.Minute):
		r.t.Fatalf("still running\n%s", r.Log())
	}
	return Outcome{Status: r.ExitCode(), Out: r.Out(), Err: r.Log()}
}

// Says waits until its standard output has a text.
func (r *Started) Says(text string) {
	r.t.Helper()
	Eventually(r.t, text+" is written", func() bool {
		if !r.Running() && !strings.Contains(r.Out(), text) {
			r.t.Fatalf("ended without %q: %s\n%s", text, r.Out(), r.Log())
		}
		return strings.Contains(r.Out(), text)
	})
}
