//go:build unix

package child

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// guarded is a process group that does nothing. ended is closed when it has ended.
func guarded(t *testing.T) (group int, ended chan struct{}) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	return cmd.Process.Pid, ended
}

// TestMainKills when the pipe is closed, and when the time has come that was given last.
func TestMainKills(t *testing.T) {
	for name, orders := range map[string]struct {
		until time.Duration
		close bool
		says  string
	}{
		"lockscope was killed": {bootTime() + time.Hour, true, "lockscope was killed"},
		"lockscope is stopped": {bootTime() + 10*time.Millisecond, false, "did not run"},
	} {
		t.Run(name, func(t *testing.T) {
			group, ended := guarded(t)
			r, w := io.Pipe()
			var errOut bytes.Buffer
			over := make(chan int)
			go func() { over <- WatchdogMain(r, &errOut) }()
			for _, until := range []time.Duration{bootTime() + time.Hour, orders.until} {
				fmt.Fprintf(w, "%d %d\n", group, until)
			}
			if orders.close {
				_ = w.Close()
			}
			if status := <-over; status != 1 || !strings.Contains(errOut.String(), orders.says) {
				t.Errorf("status %d: %s", status, &errOut)
			}
			<-ended
			_ = w.Close()
		})
	}
}

// TestMainKillsWhatIsBeingStarted: lockscope is stopped when its command runs, before it can say which group that is.
func TestMainKillsWhatIsBeingStarted(t *testing.T) {
	if runtime.GOOS != "linux" {
		return
	}
	_, ended := guarded(t)
	r, w := io.Pipe()
	defer w.Close()
	var errOut bytes.Buffer
	over := make(chan int)
	go func() { over <- watch(r, &errOut, os.Getpid()) }()
	fmt.Fprintf(w, "%s%d\n", startingWord, bootTime()+10*time.Millisecond)
	if status := <-over; status != 1 || !strings.Contains(errOut.String(), "did not run") {
		t.Errorf("status %d: %s", status, &errOut)
	}
	<-ended
}

// TestMainKillsNothingElse: groups that mean "all processes" or "my own" are no orders.
func TestMainKillsNothingElse(t *testing.T) {
	orders := "0 1\n1 1\n-1 1\nnonsense\n\nstarting\nstarting x\n"
	var errOut bytes.Buffer
	if status := WatchdogMain(strings.NewReader(orders), &errOut); status != 1 || errOut.Len() > 0 {
		t.Errorf("status %d: %s", status, &errOut)
	}
}

// TestOrders arrive whole, or fail at once where nobody reads them.
func TestOrders(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d := &watchdog{orders: w}
	sent := 0
	for err == nil {
		if err = d.Guard(1234, time.Duration(sent)); err == nil {
			sent++
		}
	}
	if !errors.Is(err, syscall.EAGAIN) || sent == 0 {
		t.Errorf("after %d orders that nobody read: %v", sent, err)
	}
	lines := bufio.NewScanner(r)
	for i := range sent {
		want := order{1234, time.Duration(i)}
		if got, ok := parse(nextLine(lines)); !ok || got != want {
			t.Fatalf("order %d arrived as %q", i, lines.Text())
		}
	}
	_ = r.Close()
	if err := d.Starting(time.Hour); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("an order to a watchdog that has ended: %v", err)
	}
}

func nextLine(lines *bufio.Scanner) string {
	lines.Scan()
	return lines.Text()
}
