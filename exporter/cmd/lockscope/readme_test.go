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

// one and three are how README.md opens one Redis and three, and addresses are theirs.
const (
	one   = `redlock.Open([]string{"127.0.0.1:6379"})`
	three = `redlock.Open([]string{"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"})`
)

var addresses = []string{"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"}

// shown returns the part of README.md between two comments, which has this text.
func shown(t *testing.T, name, has string) string {
	t.Helper()
	readme, err := os.ReadFile("../../../README.md")
	cmdtest.Must(t, err)
	_, rest, ok := strings.Cut(string(readme), "<!-- "+name+" -->\n```")
	text, _, closed := strings.Cut(rest, "```\n<!-- /"+name+" -->")
	if !ok || !closed || !strings.Contains(text, has) {
		t.Fatalf("README.md has no %s with %q", name, has)
	}
	return strings.TrimSpace(strings.TrimPrefix(text, "go\n"))
}

// onServers puts servers in place of README.md's three nodes.
func onServers(text string, servers []*redisproc.Server) string {
	for i, address := range addresses {
		text = strings.ReplaceAll(text, address, servers[i].Addr())
	}
	return text
}

// programOfREADME builds the README's code as a reader who copies it would, with this call in place of the one that
// opens one Redis.
func programOfREADME(t *testing.T, open string) (bin string) {
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
` + strings.Replace(shown(t, "example", one), one, open, 1) + "\n}\n"
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

// charges waits until a program has done its work. A try that a busy machine spoils, because a node did not answer in
// time, is repeated.
func charges(t *testing.T, dir, program string) {
	t.Helper()
	cmdtest.Eventually(t, "the program works", func() bool {
		out, err := says(t, dir, program)
		if strings.Contains(out, "may not vote") {
			t.Fatal(out)
		}
		return err == nil && out == "charged 1001 true\n"
	})
}

// TestUseOfREADME follows the README on new servers. On one, its program works. On three it fails with an error that
// shows one command; that command is run as printed; then the program works at once.
func TestUseOfREADME(t *testing.T) {
	dir := t.TempDir()
	if out, err := buildStatic(filepath.Join(dir, "lockscope")); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	charges(t, dir, programOfREADME(t, strings.Replace(one, "127.0.0.1:6379", locktest.Servers(t, 1)[0].Addr(), 1)))
	servers := locktest.Servers(t, 3)
	if shown(t, "three", three) != "locker, err := "+three {
		t.Error("README.md opens three nodes in another way")
	}
	program := programOfREADME(t, onServers(three, servers))
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
	if want := onServers(shown(t, "init", addresses[0]), servers); want != line {
		t.Errorf("README.md shows\n%s\nand the error names\n%s", want, line)
	}
	cmdtest.Eventually(t, "the command is done", func() bool {
		out, err := says(t, dir, line)
		return err == nil && strings.Contains(out, "vouched for 3 nodes")
	})
	charges(t, dir, program)
}

// buildStatic builds as the image does, so that both share the work.
func buildStatic(bin string) ([]byte, error) {
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd.CombinedOutput()
}
