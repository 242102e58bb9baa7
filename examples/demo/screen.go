package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// style is a terminal's escape sequence.
type style string

const (
	plain  style = ""
	bold   style = "\x1b[1m"
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	normal style = "\x1b[0m"
)

// screen writes whole lines, so that those of different goroutines do not mix.
type screen struct {
	began  time.Time
	styled bool

	mu sync.Mutex
	w  io.Writer
}

func newScreen(w io.Writer) *screen {
	return &screen{began: time.Now(), styled: isTerminal(w) && os.Getenv("NO_COLOR") == "", w: w}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// print writes a line.
func (s *screen) print(st style, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if s.styled && st != plain {
		line = string(st) + line + string(normal)
	}
	fmt.Fprintln(s.w, line)
}

// at writes a line that begins with the time since the start.
func (s *screen) at(st style, format string, args ...any) {
	s.print(st, "%7.1fs  %s", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

// textWidth is that of running text: with what stands before it, a line of a hundred.
const textWidth = 82

// event writes what happened to whom; kind is a word of up to seven letters.
func (s *screen) event(st style, kind, format string, args ...any) {
	s.at(st, "%-7s %s", kind, hang(fmt.Sprintf(format, args...), 18))
}

// hang wraps a text that begins at a column.
func hang(text string, column int) string {
	return strings.Join(wrap(text, textWidth), "\n"+strings.Repeat(" ", column))
}

// wrap breaks a text at spaces into lines of up to width bytes; longer words stay whole.
func wrap(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
