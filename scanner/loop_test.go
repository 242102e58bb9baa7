package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

func TestStartAndStop(t *testing.T) {
	f := startNodes(t, 1)
	must(t, f.clients[0].Set(within(t), "lock:a", "1", 0).Err())
	var found atomic.Int32
	s := newScanner(t, f.clients, scanner.WithInterval(20*time.Millisecond),
		scanner.WithOnFinding(func(report.Finding) { found.Add(1) }))
	s.Stop() // no effect
	must(t, s.Start())
	if err := s.Start(); !errors.Is(err, scanner.ErrStarted) {
		t.Errorf("second Start: %v", err)
	}
	eventually(t, "many sweeps", func() bool { n := s.Snapshot().Nodes; return len(n) == 1 && n[0].Passes >= 5 })
	s.Stop()
	passes := s.Snapshot().Nodes[0].Passes
	sweep(t, s) // still works
	s.Stop()
	if n := s.Snapshot().Nodes[0].Passes; n != passes+1 {
		t.Errorf("%d passes after Stop, want %d", n, passes+1)
	}
	if found.Load() != 1 {
		t.Errorf("found %d times", found.Load())
	}
	if err := s.Start(); !errors.Is(err, scanner.ErrStarted) {
		t.Errorf("Start after Stop: %v", err)
	}
}

// TestStopEndsTheSweep stops a loop during a long sweep.
func TestStopEndsTheSweep(t *testing.T) {
	f := startNodes(t, 1)
	for i := range 100 {
		must(t, f.clients[0].Set(within(t), fmt.Sprint("lock:", i), "1", 0).Err())
	}
	entered := make(chan struct{}, 100)
	s := newScanner(t, f.clients, scanner.WithInterval(time.Millisecond), scanner.WithPageSize(1),
		scanner.WithPause(time.Minute),
		scanner.WithProgress(func(report.Progress) { entered <- struct{}{} }))
	must(t, s.Start())
	<-entered
	s.Stop()
	if n := s.Snapshot().Nodes[0]; !n.Truncated || n.PassFailures != 0 {
		t.Errorf("%+v", n)
	}
}

func TestSnapshotAddsUp(t *testing.T) {
	f := startNodes(t, 1)
	ctx := within(t)
	must(t, f.clients[0].Set(ctx, "lock:a", "1", 0).Err())
	must(t, f.clients[0].Set(ctx, "lock:b", "1", 100*time.Hour).Err())
	var clk clock
	s := newScanner(t, f.clients, scanner.WithNow(clk.now))
	if snap := s.Snapshot(); len(snap.Nodes) != 0 || !snap.Last.Started.IsZero() {
		t.Errorf("before the first sweep: %+v", snap)
	}
	sweep(t, s)
	clk.pass(time.Hour)
	report := sweep(t, s)
	n := s.Snapshot().Nodes[0]
	if n.Passes != 2 || n.Leaked != 1 || n.Overlong != 1 || n.Locks != 2 || n.Examined != 4 || n.Durations.Count != 2 ||
		n.Durations.Buckets[300] != 2 || !n.Up || n.Truncated || n.Calls < 4 {
		t.Errorf("%+v", n)
	}
	if n.OldestLeak < time.Hour || n.OldestLeak > 2*time.Hour {
		t.Errorf("oldest leak %v", n.OldestLeak)
	}
	if !s.Snapshot().Last.Started.Equal(report.Started) {
		t.Error("the last report is another one")
	}
}

// urlEnv gives a child process the server to sweep.
const urlEnv = "LOCKSCOPE_TEST_URL"

// leaderJob is a process that sweeps as leader until it is killed, and prints that.
const leaderJob = "leader"

func lead() int {
	url := os.Getenv(urlEnv)
	locker, err := redlock.Open([]string{url}, lock.WithNodeTimeout(2*time.Second),
		lock.WithDefaults(lock.TTL(leaderTTL)))
	if err != nil {
		return 1
	}
	s, err := scanner.Open([]string{url},
		fast(scanner.WithLocker(locker, "scanner"), scanner.WithInterval(50*time.Millisecond),
			scanner.WithProgress(func(p report.Progress) { fmt.Println("swept", p.Node) }))...)
	if err != nil || s.Start() != nil {
		return 1
	}
	select {}
}

// leaderTTL is how long others wait for a leader that died. It is at least four node timeouts.
const leaderTTL = 8 * time.Second

// TestTakeOver kills the process that sweeps. The one on standby takes over.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	server := locktest.Servers(t, 1)[0]
	url := "redis://" + server.Addr()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+leaderJob, urlEnv+"="+url)
	child, err := process.Start("leader", t.TempDir(), cmd)
	must(t, err)
	defer func() { must(t, child.Kill()) }()
	_, err = child.Await(t.Context(), regexp.MustCompile("swept .*\n"))
	must(t, err)

	locker, err := redlock.Open([]string{url}, lock.WithNodeTimeout(2*time.Second),
		lock.WithDefaults(lock.TTL(leaderTTL)))
	must(t, err)
	defer locker.Close()
	s, err := scanner.Open([]string{url},
		fast(scanner.WithLocker(locker, "scanner"), scanner.WithInterval(50*time.Millisecond))...)
	must(t, err)
	defer s.Close()
	must(t, s.Start())
	eventually(t, "standby", func() bool { return s.Snapshot().Standby })
	if n := s.Snapshot().Nodes; len(n) != 0 {
		t.Errorf("both sweep: %+v", n)
	}
	must(t, child.Kill())
	eventually(t, "taken over", func() bool { snap := s.Snapshot(); return !snap.Standby && len(snap.Nodes) == 1 })

	// Stop releases the lock: the next leader need not wait for the TTL.
	s.Stop()
	c := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer c.Close()
	if n := c.Exists(within(t), "lock:scanner").Val(); n != 0 {
		t.Error("the lock is held after Stop")
	}
}

// TestLostLeadership ends a sweep whose lock is lost.
func TestLostLeadership(t *testing.T) {
	f := startNodes(t, 1)
	ctx := within(t)
	for i := range 20 {
		must(t, f.clients[0].Set(ctx, fmt.Sprint("lock:", i), "1", 0).Err())
	}
	locker, err := redlock.New(f.clients, lock.WithNodeTimeout(2*time.Second),
		lock.WithDefaults(lock.TTL(leaderTTL)))
	must(t, err)
	defer locker.Close()
	entered := make(chan struct{}, 100)
	s := newScanner(t, f.clients, scanner.WithLocker(locker, "scanner"), scanner.WithInterval(time.Second),
		scanner.WithPageSize(1), scanner.WithPause(time.Minute),
		scanner.WithProgress(func(report.Progress) { entered <- struct{}{} }))
	must(t, s.Start())
	<-entered
	must(t, f.clients[0].Set(context.WithoutCancel(ctx), "lock:scanner", "somebody else", time.Minute).Err())
	eventually(t, "the sweep is cut short and left to the other", func() bool {
		snap := s.Snapshot()
		return snap.Standby && len(snap.Nodes) == 1 && snap.Nodes[0].Truncated
	})
}

// TestSweepsWithoutQuorum kills two of three servers. Nobody can tell which process is to sweep the third, so all of
// them do.
func TestSweepsWithoutQuorum(t *testing.T) {
	f := startNodes(t, 3)
	ctx := within(t)
	must(t, redlock.Vouch(ctx, f.clients))
	must(t, f.clients[0].Set(ctx, "lock:a", "1", 0).Err())
	var all []*scanner.Scanner
	for range 2 {
		locker, err := redlock.New(f.clients, lock.WithNodeTimeout(100*time.Millisecond),
			lock.WithDefaults(lock.TTL(time.Second)))
		must(t, err)
		defer locker.Close()
		s := newScanner(t, f.clients, scanner.WithLocker(locker, "scanner"), scanner.WithInterval(100*time.Millisecond))
		must(t, s.Start())
		all = append(all, s)
	}
	swept := func() (n int) {
		for _, s := range all {
			if snap := s.Snapshot(); !snap.Standby && len(snap.Last.Findings) > 0 && snap.Undecided == nil {
				n++
			}
		}
		return n
	}
	eventually(t, "one sweeps", func() bool { return swept() == 1 })
	must(t, f.servers[1].Kill())
	must(t, f.servers[2].Kill())
	for i, s := range all {
		eventually(t, fmt.Sprint("undecided ", i), func() bool { return s.Snapshot().Undecided != nil })
		eventually(t, fmt.Sprint("sweeps all the same ", i), func() bool {
			snap := s.Snapshot()
			return !snap.Standby && snap.Last.Unelected && snap.Undecided != nil && len(snap.Last.Findings) == 1
		})
		for _, n := range s.Snapshot().Nodes {
			if up := n.Node == f.servers[0].Addr(); n.Up != up {
				t.Errorf("%s: up %v", n.Node, n.Up)
			}
		}
	}
}
