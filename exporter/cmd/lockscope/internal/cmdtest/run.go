// Package cmdtest is what tests of commands have in common: a run of lockscope with some of its commands, servers of
// each system, and what tests ask of them.
package cmdtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest/process"
)

// Main keeps go-redis from reporting the planted faults by itself, as the program does. A
// pool whose dials all failed looks once a second whether it was closed.
func Main(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	goleak.VerifyTestMain(m, goleak.Cleanup(os.Exit),
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// Program is lockscope in this process: main's run, or what [Of] makes.
type Program func(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int

// Of is lockscope with these commands alone.
func Of(commands ...func(*ui.App) *cobra.Command) Program {
	return func(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
		a := ui.New(environ, stdin, stdout, stderr)
		all := make([]*cobra.Command, len(commands))
		for i, command := range commands {
			all[i] = command(a)
		}
		return a.Run(ctx, a.Root(&cobra.Command{Use: "lockscope"}, all...), args)
	}
}

// Command runs a command line.
func (run Program) Command(t testing.TB, args ...string) Outcome {
	t.Helper()
	return run.With(t, nil, "", args...)
}

// With runs a command line with this environment and standard input.
func (run Program) With(t testing.TB, environ []string, stdin string, args ...string) Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	status := run(ctx, args, environ, strings.NewReader(stdin), &out, &errOut)
	if strings.Contains(errOut.String(), `for "lockscope"`) { // as cobra says of a command that is not there
		t.Fatalf("Of was not given the command of %q: %s", args, &errOut)
	}
	return Outcome{status, out.String(), errOut.String()}
}

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
		_ = r.Signal(syscall.SIGABRT) // the log says then what each goroutine waits for
		select {
		case <-r.Done():
		case <-time.After(10 * time.Second):
		}
		r.t.Fatalf("still running\n%s", r.Log())
	}
	return Outcome{Status: r.ExitCode(), Out: r.Out(), Err: r.Log()}
}

// Outcome is what one run of the program left behind.
type Outcome struct {
	Status   int
	Out, Err string
}

// Want checks the exit status, and that each of the texts was said.
func (o Outcome) Want(t testing.TB, status int, says ...string) {
	t.Helper()
	if o.Status != status {
		t.Errorf("exit %d, want %d\nstdout:\n%s\nstderr:\n%s", o.Status, status, o.Out, o.Err)
	}
	for _, text := range says {
		if !strings.Contains(o.Out+o.Err, text) {
			t.Errorf("%q is not in\nstdout:\n%s\nstderr:\n%s", text, o.Out, o.Err)
		}
	}
}

// WantNot checks that none of the texts was said.
func (o Outcome) WantNot(t testing.TB, secrets ...string) {
	t.Helper()
	for _, text := range secrets {
		if strings.Contains(o.Out+o.Err, text) {
			t.Errorf("%q is in\nstdout:\n%s\nstderr:\n%s", text, o.Out, o.Err)
		}
	}
}

// Decode reads standard output as one JSON document without unknown fields.
func (o Outcome) Decode(t testing.TB, v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(o.Out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		t.Fatalf("%v in\n%s", err, o.Out)
	}
}

// Must ends the test at an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually waits for a condition of another process.
func Eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// ConfigFile writes a file beside others in a folder of its own.
func ConfigFile(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lockscope.yaml")
	Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Patient judges no latency: tests share the machine with others.
func Patient(args ...string) []string {
	return append([]string{"doctor", "--for", "100ms", "--node-timeout", "10s", "--ttl", "1h"}, args...)
}

// Quick confirms at once: nobody takes locks in two steps here.
func Quick(args ...string) []string {
	return append([]string{"scan", "--confirm-after", "10ms"}, args...)
}
