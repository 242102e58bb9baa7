package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// library is the module whose tests are run.
const library = "github.com/lockscope/lockscope"

// repository is the root of the checkout: where the go.mod that counts here has the library.
func repository(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", library)
	cmd.Env = environment()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run it within the checkout: go list: %w", err)
	}
	root := strings.TrimSpace(string(out))
	if root == "" {
		return "", errors.New("run it within the checkout: the library is not there")
	}
	return root, nil
}

// tree is a module whose tests are run, and a folder for what is built of it.
type tree struct {
	root, work string
}

// newTree is of the module in root. close must follow.
func newTree(root string) (*tree, error) {
	work, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return nil, err
	}
	return &tree{root: root, work: work}, nil
}

func (t *tree) close() { _ = os.RemoveAll(t.work) }

// environment is without the workspace: each module is tested as its own go.mod says. It is without cgo, so that Go's
// own linker does for all packages.
func environment() []string { return append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0") }

// environment is that of a package. What is a module of its own requires versions that only a workspace has.
func (t *tree) environment(pkg string) []string {
	env := environment()
	if work := workspace(pkg); work != "" {
		env = append(env, "GOWORK="+filepath.Join(t.root, ".tools", "release", work))
	}
	return env
}

// workspace is the file of the workspace that a package is tested in; "" if its module needs none.
func workspace(pkg string) string {
	switch {
	case strings.HasPrefix(pkg, "lock/etcdlock"), strings.HasPrefix(pkg, "lock/pglock"),
		strings.HasPrefix(pkg, "lock/contrib/zklock"), strings.HasPrefix(pkg, "exporter"):
		return "release.work"
	case strings.HasPrefix(pkg, "lock/contrib/"):
		return "contrib.work"
	}
	return ""
}

// plant writes the overlay that puts the file with the bug in the place of the original, and returns where that is.
func (t *tree) plant(b bug, dir string) (overlay string, err error) {
	planted, err := b.plant(t.root, dir)
	if err != nil {
		return "", err
	}
	replace := map[string]string{filepath.Join(t.root, filepath.FromSlash(b.file)): planted}
	// Examples are nobody's killers, and may need packages that the tests do not.
	examples, err := filepath.Glob(filepath.Join(t.root, filepath.FromSlash(b.killer.pkg), "example*_test.go"))
	if err != nil {
		return "", err
	}
	for _, example := range examples {
		replace[example] = "" // as if it were not there
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// errNotBuilt says that a program with a bug is none.
var errNotBuilt = errors.New("it does not compile")

// build makes the test binary of a package, with an overlay unless that is "". Most of the gate's time goes here: the
// binary has no debug information, and the package itself is not inlined.
func (t *tree) build(ctx context.Context, pkg, overlay, binary string) error {
	args := []string{"test", "-c", "-vet=off", "-ldflags=-w", "-gcflags=-l", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+pkg)...)
	cmd.Dir, cmd.Env = t.root, t.environment(pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %w\n%s", errNotBuilt, err, out)
	}
	if _, err := os.Stat(binary); err != nil { // a package without test files
		return fmt.Errorf("%s has no tests", pkg)
	}
	return nil
}

// testRun is what became of a test.
type testRun struct {
	passed   bool
	begun    bool // the test that was named; not if there is none of that name
	timedOut bool
	output   string
}

// test runs the binary of the killer's package, in the folder of that package.
func (t *tree) test(ctx context.Context, binary string, k killer, limit time.Duration) (testRun, error) {
	args := []string{"-test.v", "-test.count=1", "-test.run=" + k.pattern(), "-test.timeout=" + limit.String()}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = filepath.Join(t.root, filepath.FromSlash(k.pkg)), environment()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // for children that keep the output open
	err := cmd.Run()
	if ctx.Err() != nil {
		return testRun{}, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return testRun{}, err
	}
	text := out.String()
	return testRun{
		passed: err == nil, begun: hasBegun(text, k.run), output: text,
		timedOut: strings.Contains(text, "panic: test timed out after"),
	}, nil
}
