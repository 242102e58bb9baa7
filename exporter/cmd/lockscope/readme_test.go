package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// addressesOfREADME are the addresses of the three nodes in its code and in its commands.
var addressesOfREADME = []string{"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"}

// shown returns the part of README.md between two comments, with these servers as its nodes.
func shown(t *testing.T, begin, end string, servers []*redisproc.Server) string {
	t.Helper()
	readme, err := os.ReadFile("../../../README.md")
	cmdtest.Must(t, err)
	_, rest, ok := strings.Cut(string(readme), begin)
	text, _, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("README.md has no %q ... %q", begin, end)
	}
	for i, address := range addressesOfREADME {
		if !strings.Contains(text, address) {
			t.Fatalf("%s is not in\n%s", address, text)
		}
		text = strings.ReplaceAll(text, address, servers[i].Addr())
	}
	return text
}

// programOfREADME builds the README's code as a reader who copies it would.
func programOfREADME(t *testing.T, servers []*redisproc.Server) (bin string) {
	t.Helper()
	source := `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

func charge(_ context.Context, order int, fence uint64) error {
	_, err := fmt.Println("charged", order, fence > 0)
	return err
}

func main() {
` + shown(t, "<!-- example -->\n```go\n", "```\n<!-- /example -->", servers) + "}\n"
	path := filepath.Join(t.TempDir(), "use.go")
	cmdtest.Must(t, os.WriteFile(path, []byte(source), 0o600))
	bin = strings.TrimSuffix(path, ".go")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, path)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// says runs a line in a shell, with the directory of these programs first in its path.
func says(t *testing.T, dir, line string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestUseOfREADME follows the README on new servers. Its program fails with an error that shows one command; that
// command is run as printed; then the program works at once. A try that a busy machine spoils, because a node did not
// answer in time, is repeated.
func TestUseOfREADME(t *testing.T) {
	dir := t.TempDir()
	if out, err := buildStatic(filepath.Join(dir, "lockscope")); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	servers := locktest.Servers(t, 3)
	program := programOfREADME(t, servers)
	named := regexp.MustCompile(`vouch for them, once: (lockscope init .*)\n`)
	line := ""
	cmdtest.Eventually(t, "the program names a command", func() bool {
		out, err := says(t, dir, program)
		t.Log(out)
		if err != nil || strings.Contains(out, "charged") {
			t.Fatalf("new nodes: %v\n%s", err, out)
		}
		if found := named.FindStringSubmatch(out); found != nil {
			line = found[1]
		}
		return line != ""
	})
	if want := strings.TrimSpace(shown(t, "<!-- init -->\n```\n", "```\n<!-- /init -->", servers)); want != line {
		t.Errorf("README.md shows\n%s\nand the error names\n%s", want, line)
	}
	cmdtest.Eventually(t, "the command is done", func() bool {
		out, err := says(t, dir, line)
		return err == nil && strings.Contains(out, "vouched for 3 nodes")
	})
	cmdtest.Eventually(t, "the program works", func() bool {
		out, err := says(t, dir, program)
		if strings.Contains(out, "may not vote") {
			t.Fatalf("after %s: %s", line, out)
		}
		return err == nil && out == "charged 1001 true\n"
	})
}

// buildStatic builds as the image does, so that both share the work.
func buildStatic(bin string) ([]byte, error) {
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd.CombinedOutput()
}
