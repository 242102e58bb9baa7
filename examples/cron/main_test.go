// Package cron_test checks what lies in this folder against the program and a real
// redis-server, as far as that can be done without a cluster.
package cron_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/examples/internal/dockerfile"
)

const root = "../.."

// built is where TestMain puts the program: linking it for each test takes longer
// than the tests.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lockscope-cron-")
	if err == nil {
		built = filepath.Join(dir, "lockscope")
		err = dockerfile.Compile("Dockerfile", root, "-o /lockscope", "-o "+built)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		_ = os.RemoveAll(dir)
		os.Exit(status)
	}))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outcome is what one run of the program left behind.
type outcome struct {
	status   int
	out, err string
}

func run(t *testing.T, env []string, bin string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &errOut
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) || ctx.Err() != nil {
			t.Fatalf("%s %q: %v\n%s", bin, args, err, errOut.String())
		}
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// parses checks that the program knows a command's flags. Asking for help comes
// after parsing and before anything is done.
func parses(t *testing.T, args []string) {
	t.Helper()
	if o := run(t, nil, built, append(args, "--help")...); o.status != 0 ||
		!strings.Contains(o.out, "Usage: lockscope "+args[0]) {
		t.Errorf("lockscope %q: exit %d\n%s", args, o.status, o.err)
	}
}

// knowsVariable checks that the program reads a variable.
func knowsVariable(t *testing.T, command, name string) {
	t.Helper()
	page := run(t, nil, built, "help", "flags", command).out
	if help := strings.Join(strings.Fields(page), " "); !strings.Contains(help, "$"+name+"]") &&
		!strings.Contains(help, name+" ") {
		t.Errorf("lockscope %s reads no %s", command, name)
	}
}

func TestVersion(t *testing.T) {
	if o := run(t, nil, built, "version"); o.out != "lockscope "+dockerfile.Version+"\n" {
		t.Errorf("%+v", o)
	}
}
