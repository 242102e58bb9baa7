package redisproc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

func TestStartStop(t *testing.T) {
	s := start(t)
	if want := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())); s.Addr() != want {
		t.Errorf("Addr = %s, want %s", s.Addr(), want)
	}
	info, err := client(t, s).Info(withinTest(t), "server").Result()
	if want := fmt.Sprintf("process_id:%d\r\n", s.PID()); err != nil || !strings.Contains(info, want) {
		t.Errorf("INFO does not contain %q (%v):\n%s", want, err, info)
	}

	must(t, s.Stop())
	if s.Running() || s.PID() != 0 {
		t.Errorf("after Stop: Running = %v, PID = %d", s.Running(), s.PID())
	}
	if _, err := os.Stat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Stop the directory is still there (%v)", err)
	}
	if err := client(t, s).Ping(withinTest(t)).Err(); err == nil {
		t.Error("after Stop somebody still answers PING")
	}
}

func TestStopIsIdempotent(t *testing.T) {
	s := start(t)
	must(t, s.Pause()) // the harder case
	begin := time.Now()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("stopping took %v, so it was not orderly", took)
	}
	must(t, s.Stop())
	if err := s.Restart(withinTest(t)); err == nil || !strings.Contains(err.Error(), "stopped for good") {
		t.Errorf("Restart after Stop: %v", err)
	}
	if err := s.Kill(); err != nil {
		t.Errorf("Kill after Stop: %v", err)
	}
}

func TestStopKillsAServerThatDoesNotExit(t *testing.T) {
	t.Parallel()
	s := start(t)
	stuck := client(t, s)
	// A script that has written cannot be interrupted, not even by SIGTERM.
	go stuck.Eval(withinTest(t), "redis.call('SET', 'k', 'v') while true do end", nil)
	eventually(t, "the server is stuck in the script", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := client(t, s).Ping(ctx).Err()
		return errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err)
	})
	must(t, s.Stop())
	if s.Running() {
		t.Error("still running")
	}
}

func TestStartN(t *testing.T) {
	servers, err := redisproc.StartN(withinTest(t), 5)
	must(t, err)
	seen := map[int]bool{}
	for _, s := range servers {
		t.Cleanup(func() { must(t, s.Stop()) })
		seen[s.Port()], seen[s.PID()] = true, true
		must(t, client(t, s).Set(withinTest(t), "key", "value", 0).Err())
	}
	if len(seen) != 10 {
		t.Errorf("5 servers have %d distinct ports and pids, want 10", len(seen))
	}
}

func TestStartNStopsAllIfOneFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	port := start(t).Port() + 1 // probably free
	servers, err := redisproc.StartN(withinTest(t), 3, redisproc.WithPort(port))
	if err == nil || servers != nil {
		t.Fatalf("three servers on one port: %v, %v", servers, err)
	}
	if dirs := serverDirs(t); len(dirs) != 1 { // of the first server
		t.Errorf("left behind: %v", dirs)
	}
	if conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
		conn.Close()
		t.Error("a server was left running")
	}
}

func TestStartErrorShowsTheLog(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, err := redisproc.Start(withinTest(t), redisproc.WithArgs("--nonsense", "1"))
	if err == nil || !strings.Contains(err.Error(), "Bad directive") ||
		!strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("error does not tell what was wrong: %v", err)
	}
	if dirs := serverDirs(t); len(dirs) != 0 {
		t.Errorf("left behind: %v", dirs)
	}
}

func TestStartOnATakenPort(t *testing.T) {
	s := start(t)
	_, err := redisproc.Start(withinTest(t), redisproc.WithPort(s.Port()))
	if err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("a second server on port %d: %v", s.Port(), err)
	}
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("changed my mind")
	cancel(reason)
	if _, err := redisproc.Start(ctx); !errors.Is(err, reason) {
		t.Errorf("error = %v, want one that joins %q", err, reason)
	}
	if dirs := serverDirs(t); len(dirs) != 0 {
		t.Errorf("left behind: %v", dirs)
	}
}

func TestStartWithPassword(t *testing.T) {
	start(t, redisproc.WithArgs("--requirepass", "secret"))
}

func TestNotInstalled(t *testing.T) {
	must(t, redisproc.Available())
	t.Setenv("PATH", t.TempDir())
	t.Setenv("LOCKSCOPE_REDIS_SERVER", "")
	_, startErr := redisproc.Start(withinTest(t))
	_, startNErr := redisproc.StartN(withinTest(t), 3)
	_, clusterErr := redisproc.StartCluster(withinTest(t), 3)
	for _, err := range []error{redisproc.Available(), startErr, startNErr, clusterErr} {
		if !errors.Is(err, redisproc.ErrNotInstalled) {
			t.Fatalf("error = %v, want ErrNotInstalled", err)
		}
		if n := strings.Count(err.Error(), "apt-get install redis-server"); n != 1 {
			t.Errorf("the advice is given %d times: %v", n, err)
		}
	}
}

func TestBinaryFromEnvironment(t *testing.T) {
	t.Setenv("LOCKSCOPE_REDIS_SERVER", filepath.Join(t.TempDir(), "missing"))
	if err := redisproc.Available(); !errors.Is(err, redisproc.ErrNotInstalled) ||
		!strings.Contains(err.Error(), "missing") {
		t.Errorf("error = %v, want ErrNotInstalled naming the file", err)
	}
}

func serverDirs(t *testing.T) []string {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), "redisproc-*"))
	must(t, err)
	return dirs
}
