// Package compose_test checks what lies in this folder against the programs and real
// servers, as far as that can be done without a container engine.
package compose_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/examples/internal/dockerfile"
)

const root = "../.."

// programs is where TestMain puts what the Dockerfile compiles: linking it for each
// test takes longer than the tests.
var programs string

func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	dir, err := os.MkdirTemp("", "lockscope-compose-")
	if err == nil {
		programs = dir + "/"
		err = dockerfile.Compile("Dockerfile", root, "-o /out/ ", "-o "+programs+" ")
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// debian returns the path of a program, under one of the names it goes by.
func debian(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("no %s: install what the tests run with \"make deps\"", names[0])
	return ""
}

// outcome is what one run of a program left behind.
type outcome struct {
	status   int
	out, err string
}

func run(t *testing.T, bin string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{}, &out, &errOut
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) || ctx.Err() != nil {
			t.Fatalf("%s %q: %v\n%s", bin, args, err, errOut.String())
		}
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}
