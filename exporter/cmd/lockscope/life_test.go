//go:build unix

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

// life is a named pipe that a process and its children have open while they live.
type life struct {
	Path string

	t      testing.TB
	opened chan *os.File
	ended  chan struct{}
	mu     sync.Mutex
	lines  []string
}

// newLife makes a pipe. A shell opens it with "exec 9>PATH", and its children inherit that.
func newLife(t testing.TB) *life {
	t.Helper()
	l := &life{
		Path: filepath.Join(t.TempDir(), "life"), t: t, opened: make(chan *os.File, 1), ended: make(chan struct{}),
	}
	cmdtest.Must(t, syscall.Mkfifo(l.Path, 0o600))
	go l.read()
	t.Cleanup(func() {
		if w, err := os.OpenFile(l.Path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // if nobody ever opened it
			_ = w.Close()
		}
		r := <-l.opened
		_ = r.Close() // if a process of a failed test has it still
		<-l.ended
	})
	return l
}

func (l *life) read() {
	defer close(l.ended)
	r, err := os.Open(l.Path)
	l.opened <- r
	if err != nil {
		return
	}
	for s := bufio.NewScanner(r); s.Scan(); {
		l.mu.Lock()
		l.lines = append(l.lines, s.Text())
		l.mu.Unlock()
	}
}

// Says reports that a process has written a line.
func (l *life) Says(line string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, have := range l.lines {
		if strings.Contains(have, line) {
			return true
		}
	}
	return false
}

// Number is what follows word in a line, up to a full stop.
func (l *life) Number(word string) int {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, have := range l.lines {
		if _, text, found := strings.Cut(have, word); found {
			n, err := strconv.Atoi(strings.TrimSuffix(text, "."))
			cmdtest.Must(l.t, err)
			return n
		}
	}
	l.t.Fatalf("%s is not in %q", word, l.lines)
	return 0
}

// Await waits until a process has written a line.
func (l *life) Await(line string) {
	l.t.Helper()
	cmdtest.Eventually(l.t, line+" is written", func() bool { return l.Says(line) })
}

// Ended reports that no process has the pipe open any more.
func (l *life) Ended() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// AwaitEnd waits for that.
func (l *life) AwaitEnd() {
	l.t.Helper()
	select {
	case <-l.ended:
	case <-time.After(time.Minute):
		l.t.Fatalf("processes are still running; they said %q", l.lines)
	}
}
