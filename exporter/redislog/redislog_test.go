package redislog_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/exporter/redislog"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// inChild makes TestMain run the program of TestStderrStaysEmpty: go-redis fixes its output when it is loaded.
const inChild = "LOCKSCOPE_REDISLOG_NODES"

func TestMain(m *testing.M) {
	if nodes := os.Getenv(inChild); nodes != "" {
		if err := lockInVain(strings.Split(nodes, ",")); err != nil {
			slog.New(slog.NewTextHandler(os.Stdout, nil)).Error("failed", "error", err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(inAttached) != "" {
		attachTwo()
		return
	}
	os.Exit(m.Run())
}

// lockInVain tries to lock on nodes that are down, from many goroutines.
func lockInVain(nodes []string) error {
	logger := slog.New(slog.NewTextHandler(os.Stdout, nil))
	defer redislog.Attach(logger)()
	engine, err := redlock.Open(nodes)
	if err != nil {
		return err
	}
	defer engine.Close()
	l, err := instrument.Wrap(engine, instrument.WithLogger(logger))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	done := make(chan struct{})
	const callers = 20
	for range callers {
		go func() {
			for ctx.Err() == nil {
				_, _ = l.Acquire(ctx, "job", lock.MaxAttempts(3))
			}
			done <- struct{}{}
		}()
	}
	for range callers {
		<-done
	}
	return l.Flush(context.Background())
}

// TestStderrStaysEmpty: in an outage every line goes to the logger.
func TestStderrStaysEmpty(t *testing.T) {
	var urls []string
	for _, s := range locktest.Servers(t, 3) {
		urls = append(urls, "redis://"+s.Addr())
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	child := exec.CommandContext(t.Context(), program)
	child.Env = append(os.Environ(), inChild+"="+strings.Join(urls, ","))
	child.Stdout, child.Stderr = &stdout, &stderr
	if err := child.Run(); err != nil {
		t.Fatalf("%v: %s", err, stdout.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("on stderr: %s", stderr.String())
	}
	if !strings.Contains(stdout.String(), "no quorum") {
		t.Errorf("the logger was not told of the outage: %s", stdout.String())
	}
	if lines := strings.Count(stdout.String(), "\n"); lines > 20 {
		t.Errorf("%d lines: %s", lines, stdout.String())
	}
}

func TestTheSameIsToldOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := redislog.New(slog.New(slog.NewTextHandler(&out, nil)))
		for i := range 100 {
			l.Printf(t.Context(), "dial %d failed\n", i)
		}
		l.Printf(t.Context(), "something else")
		time.Sleep(time.Minute)
		l.Printf(t.Context(), "dial %d failed\n", 100)
		for _, want := range []string{`msg="dial 0 failed" library=go-redis`, `msg="something else"`,
			`msg="dial 100 failed" library=go-redis left_out=99`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s is missing in: %s", want, out.String())
			}
		}
		if n := strings.Count(out.String(), "\n"); n != 3 {
			t.Errorf("%d lines: %s", n, out.String())
		}
		redislog.New(nil).Printf(t.Context(), "to nobody")
	})
}
