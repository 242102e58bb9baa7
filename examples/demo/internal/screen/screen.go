// Package screen writes what the demo says: lines with a time, in colour on a terminal.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Style is a terminal's escape sequence.
type Style string

const (
	Plain  Style = ""
	Bold   Style = "\x1b[1m"
	Red    Style = "\x1b[31m"
	Green  Style = "\x1b[32m"
	Yellow Style = "\x1b[33m"
	normal Style = "\x1b[0m"
)

// Screen writes whole lines, so that those of different goroutines do not mix.
type Screen struct {
	Began  time.Time
	styled bool

	mu sync.Mutex
	w  io.Writer
}

func New(w io.Writer) *Screen {
	return &Screen{Began: time.Now(), styled: isTerminal(w) && os.Getenv("NO_COLOR") == "", w: w}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Print writes a line.
func (s *Screen) Print(st Style, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if s.styled && st != Plain {
		line = string(st) + line + string(normal)
	}
	fmt.Fprintln(s.w, line)
}

// At writes a line that begins with the time since the start.
func (s *Screen) At(st Style, format string, args ...any) {
	s.Print(st, "%7.1fs  %s", time.Since(s.Began).Seconds(), fmt.Sprintf(format, args...))
}

// textWidth is that of running text: with what stands before it, a line of a hundred.
const textWidth = 82

// Event writes what happened to whom; kind is a word of up to seven letters.
func (s *Screen) Event(st Style, kind, format string, args ...any) {
	s.At(st, "%-7s %s", kind, Hang(fmt.Sprintf(format, args...), 18))
}

// Hang wraps a text that begins at a column.
func Hang(text string, column int) string {
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

// Short writes a duration in three digits or so.
func Short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%dms", d.Round(time.Millisecond).Milliseconds())
	}
	return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000)
}
