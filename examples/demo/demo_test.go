//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// asDemo makes the test binary be the demo, built as the test is: with -race.
const asDemo = "LOCKSCOPE_TEST_AS_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(asDemo) != "" {
		main()
	}
	redis.SetLogger(&logging.VoidLogger{})
	goleak.VerifyTestMain(m)
}

// demo runs the demo as a process of its own, and interrupts it when it has written
// interruptAt, if that is anything. It returns what it wrote. Its nodes may take as
// long to answer as the TTL, a tenth of these 10 seconds, allows: the machine may be
// busy.
func demo(t *testing.T, interruptAt string, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args = append([]string{"-for", "10s", "-node-timeout", "250ms"}, args...)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), asDemo+"=1"), env...)
	out := &watched{until: interruptAt, seen: func() error { return cmd.Process.Signal(os.Interrupt) }}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	t.Logf("demo %s\n%s", strings.Join(args, " "), &out.text)
	if err != nil {
		t.Fatal(err)
	}
	if out.until != "" {
		t.Fatalf("it never wrote %q", out.until)
	}
	wantGone(t, out.text.String())
	return out.text.String()
}

// watched keeps what is written to it, and calls seen once that contains until.
type watched struct {
	text  bytes.Buffer
	until string
	seen  func() error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	if w.until != "" && strings.Contains(w.text.String(), w.until) {
		w.until = ""
		err = w.seen()
	}
	return n, err
}

// wantGone checks that no server the demo told of is left.
func wantGone(t *testing.T, out string) {
	t.Helper()
	pids := regexp.MustCompile(`their pids: ([\d ]+)`).FindStringSubmatch(out)
	if pids == nil {
		return
	}
	for _, pid := range strings.Fields(pids[1]) {
		n, err := strconv.Atoi(pid)
		if err != nil || !errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			t.Errorf("redis-server %s is still there", pid)
		}
	}
}

func wantLines(t *testing.T, out string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(out) {
			t.Errorf("no line like %s", p)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("escape sequences in a file")
	}
}

// wholeStory is what a run without interruption shows, on either kind of nodes.
func wholeStory(nodes int) []string {
	return []string{
		`^ +\d\.\d+s +\d+ +\d+ +\d`,
		`PLANT .*lock:legacy-import`,
		`HELD .*"legacy-import" is held by an unknown owner and never expires`,
		`PAUSE .*node 127\.0\.0\.1:\d+ hangs`,
		`CRASH .*importer-1 vanishes holding order:1001`,
		`GRANT .*order:1001 to `,
		fmt.Sprintf(`PAUSE .*%d of %d nodes hang`, nodes/2+1, nodes),
		`LOST .*report:daily learns it after`,
		`GRANT .*report:daily to .* a higher fencing token`,
		`^order:1001 +[1-9]\d* .* +[1-9]\d* +0 +yes$`,
		`^report:daily +[1-9]\d* .* 1 +yes$`,
		`^all +[1-9]\d* .* +[1-9]\d* +1 +yes$`,
		`^key without TTL +legacy-import`,
		fmt.Sprintf(`^paused node +one of %d hung .* [1-9]\d* meanwhile`, nodes),
		`^crashed holder .*waited for it: [a-z]`,
		`^majority paused .*lock: lease lost`,
		fmt.Sprintf(`^scanner +lock:legacy-import never expires, on %d nodes`, nodes),
		`^live page http://127\.0\.0\.1:\d+/debug/locks`,
		`never two holders, every fencing token higher`,
	}
}

func TestDemo(t *testing.T) {
	out := demo(t, "", nil)
	wantLines(t, out, wholeStory(5)...)
	if real := strings.Contains(out, "5 redis-server processes"); real != (redisproc.Available() == nil) {
		t.Errorf("real servers: %v", real)
	}
}

// TestDemoEmbedded has fewer nodes and more time: those that are part of a process
// under the race detector are slow.
func TestDemoEmbedded(t *testing.T) {
	out := demo(t, "", []string{"LOCKSCOPE_REDIS_SERVER=/does/not/exist"}, "-nodes", "3", "-for", "20s",
		"-node-timeout", "500ms")
	wantLines(t, out, append(wholeStory(3), `^3 embedded nodes`, `no redis-server was found`)...)
}

// TestDemoInterrupted interrupts a pause, a crash and a hung majority.
func TestDemoInterrupted(t *testing.T) {
	for _, at := range []string{"PAUSE", "CRASH", "3 of 5 nodes hang"} {
		out := demo(t, at, nil)
		wantLines(t, out, `interrupted`, `^all +[1-9]\d* .* yes$`, `never two holders`)
	}
}

func TestDemoOnYourServersLeavesOnlyFenceCounters(t *testing.T) {
	servers, err := redisproc.StartN(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	var addrs []string
	var clients []redis.UniversalClient
	for _, s := range servers {
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		addrs, clients = append(addrs, s.Addr()), append(clients, c)
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	ctx := t.Context()
	// Young servers may not vote for a minute, and the demo vouches for its own only.
	if err := redlock.Vouch(ctx, clients); err != nil {
		t.Fatal(err)
	}
	if err := clients[0].Set(ctx, "lock:mine", "untouched", 0).Err(); err != nil {
		t.Fatal(err)
	}
	// Interrupted while the crashed holder's keys are there.
	out := demo(t, "CRASH", nil, "-redis", strings.Join(addrs, ","))
	wantLines(t, out, `your own 3 servers`, `CRASH`, `^all +[1-9]\d* .* yes$`)
	for _, s := range servers {
		wantOnlyFences(t, s.Addr())
	}
}

func wantOnlyFences(t *testing.T, addr string) {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr})
	defer c.Close()
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if key != "lock:mine" && key != "lockscope:life" && !strings.HasPrefix(key, "lockscope:fence:") {
			t.Errorf("%s still has %s", addr, key)
		}
	}
}
