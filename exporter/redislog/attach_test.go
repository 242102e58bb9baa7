package redislog_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/redislog"
)

// inAttached makes TestMain run the program of TestAttach: Attach changes the whole process.
const inAttached = "LOCKSCOPE_REDISLOG_ATTACHED"

// ping fails to connect, which makes go-redis log a line.
func ping() {
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})
	defer c.Close()
	_ = c.Ping(context.Background())
}

// attachTwo goes from no logger to two and back. In between go-redis logs a line or more.
func attachTwo() {
	named := func(name string) *slog.Logger {
		return slog.New(slog.NewTextHandler(os.Stdout, nil)).With("attached", name)
	}
	first, second := redislog.Attach(named("first")), redislog.Attach(named("second"))
	var callers sync.WaitGroup
	for range 5 {
		callers.Go(ping)
	}
	callers.Wait()
	first()
	first()
	ping()
	second()
	ping()
	redis.SetLogger(redislog.New(named("the program's")))
	defer redislog.Attach(named("third"))()
	ping()
}

// TestAttach: lines go to the logger that attached first, then to the next, then to stderr. A logger that the program
// sets afterwards stays.
func TestAttach(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	child := exec.CommandContext(t.Context(), program)
	child.Env = append(os.Environ(), inAttached+"=1")
	child.Stdout, child.Stderr = &stdout, &stderr
	if err := child.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var told []string
	for line := range strings.Lines(stdout.String()) {
		_, of, _ := strings.Cut(line, "attached=")
		told = append(told, strings.TrimSpace(of))
	}
	want := []string{
		"first library=go-redis", "first library=go-redis left_out=3", "second library=go-redis",
		`"the program's" library=go-redis`,
	}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("told:\n%s", stdout.String())
	}
	if s := stderr.String(); strings.Count(s, "\n") != 1 || !strings.HasPrefix(s, "redis: ") ||
		!strings.Contains(s, "pool.go:") {
		t.Errorf("on stderr, with nobody attached: %q", s)
	}
}
