package redisproc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

var appendAlways = redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always")

func TestPauseAndResume(t *testing.T) {
	s := start(t)
	c := client(t, s)
	must(t, c.Set(withinTest(t), "key", "value", 0).Err())

	must(t, s.Pause())
	if !s.Running() || s.PID() == 0 {
		t.Error("a paused server does not count as running")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var timeout net.Error
	if err := c.Get(ctx, "key").Err(); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("GET from a paused server: %v, want a timeout", err)
	}
	must(t, s.Resume())
	wantValue(t, c, "key", "value")
}

// TestPauseIsOver: when Pause returns, the process has stopped, and runs no command that is sent afterwards. A busy
// server stops late.
func TestPauseIsOver(t *testing.T) {
	s := start(t)
	c := client(t, s)
	for i := range 50 {
		busy := make(chan error, 1)
		go func() {
			busy <- c.Eval(withinTest(t), "for i = 1, 1e5 do redis.call('INCR', 'n') end return 1", nil).Err()
		}()
		must(t, s.Pause())
		if state := processState(t, s.PID()); state != "T" {
			t.Fatalf("pause %d returned with the process in state %s, want T", i, state)
		}
		must(t, s.Resume())
		must(t, <-busy)
	}
}

// processState returns the state letter in /proc, or T on systems without it.
func processState(t *testing.T, pid int) string {
	if runtime.GOOS != "linux" {
		return "T"
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	_, after, _ := strings.Cut(string(stat), ") ")
	return after[:1]
}

func TestRestartKeepsWhatIsOnDisk(t *testing.T) {
	s := start(t, appendAlways)
	addr, pid := s.Addr(), s.PID()
	must(t, client(t, s).Set(withinTest(t), "key", "value", 0).Err())
	must(t, s.Kill())
	if s.Running() || s.PID() != 0 {
		t.Error("after Kill the server counts as running")
	}
	must(t, s.Kill())
	must(t, s.Restart(withinTest(t)))
	if s.Addr() != addr || s.PID() == pid || s.PID() == 0 {
		t.Errorf("restarted on %s as %d, was on %s as %d", s.Addr(), s.PID(), addr, pid)
	}
	wantValue(t, client(t, s), "key", "value")
}

func TestWipeLosesWhatIsOnDisk(t *testing.T) {
	s := start(t, appendAlways)
	must(t, client(t, s).Set(withinTest(t), "key", "value", 0).Err())
	if err := s.Wipe(); err == nil {
		t.Error("Wipe of a running server succeeded")
	}
	wantValue(t, client(t, s), "key", "value")
	must(t, s.Kill())
	must(t, s.Wipe())
	must(t, s.Restart(withinTest(t)))
	if got, err := client(t, s).Get(withinTest(t), "key").Result(); !errors.Is(err, redis.Nil) {
		t.Errorf("after Wipe: GET = %q, %v; want redis.Nil", got, err)
	}
}

func TestRestartLosesWhatIsInMemory(t *testing.T) {
	s := start(t)
	must(t, client(t, s).Set(withinTest(t), "key", "value", 0).Err())
	must(t, s.Restart(withinTest(t))) // kills the running process
	if got, err := client(t, s).Get(withinTest(t), "key").Result(); !errors.Is(err, redis.Nil) {
		t.Errorf("without persistence: GET = %q, %v; want redis.Nil", got, err)
	}
}

func TestKillPaused(t *testing.T) {
	s := start(t)
	must(t, s.Pause())
	must(t, s.Kill())
	if s.Running() {
		t.Error("still running")
	}
	must(t, s.Restart(withinTest(t)))
	must(t, client(t, s).Ping(withinTest(t)).Err())
}

func TestRestartAgainAfterFailure(t *testing.T) {
	s := start(t)
	must(t, s.Kill())
	squatter, err := net.Listen("tcp", s.Addr())
	must(t, err)
	if err := s.Restart(withinTest(t)); err == nil || s.Running() {
		t.Errorf("Restart on a taken port: %v, Running = %v", err, s.Running())
	}
	must(t, squatter.Close())
	must(t, s.Restart(withinTest(t)))
	must(t, client(t, s).Ping(withinTest(t)).Err())
}

func TestNotRunning(t *testing.T) {
	s := start(t)
	client(t, s).Shutdown(withinTest(t)) // ends the process by itself
	eventually(t, "the server has exited", func() bool { return !s.Running() })
	for name, act := range map[string]func() error{"Pause": s.Pause, "Resume": s.Resume} {
		if err := act(); !errors.Is(err, redisproc.ErrNotRunning) {
			t.Errorf("%s: %v, want ErrNotRunning", name, err)
		}
	}
	must(t, s.Kill())
}
