// Package redislog sends the log lines of go-redis to a *slog.Logger. By default go-redis writes a line to stderr for
// each failed connection, and bypasses the program's loggers.
//
//	defer redislog.Attach(logger)() // early in main
//
// go-redis has one logger for all clients of a process, even those that do not lock. Of lockscope's packages, only
// exporter/observe attaches its logger; Config.KeepRedisLogger prevents that. A program that calls redis.SetLogger
// itself passes it the result of New.
package redislog

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// every is the shortest time between two lines of one kind. A node that is down fails many dials per second, and
// shows in lockscope's own records, metrics and page.
const every = 10 * time.Second

// maxFormats is more than go-redis has.
const maxFormats = 1024

// Logger is an argument for redis.SetLogger. It is safe for concurrent use.
type Logger struct {
	to *slog.Logger

	mu   sync.Mutex
	told map[string]*told // by format
}

type told struct {
	last    time.Time
	leftOut int
	text    string // of the last line that was left out
}

// New returns a Logger that logs the lines of go-redis to l as warnings with the attribute library="go-redis". Of
// lines that differ only in their arguments, it logs at most one in ten seconds, and counts the others in left_out.
// With a nil l it logs nothing.
func New(l *slog.Logger) *Logger {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return &Logger{to: l, told: make(map[string]*told)}
}

// Printf implements the interface of go-redis.
func (l *Logger) Printf(ctx context.Context, format string, v ...any) {
	if !l.to.Enabled(ctx, slog.LevelWarn) {
		return
	}
	text := strings.TrimSpace(fmt.Sprintf(format, v...))
	if leftOut, ok := l.admit(format, text, time.Now()); ok {
		l.tell(ctx, text, leftOut)
	}
}

func (l *Logger) tell(ctx context.Context, text string, leftOut int) {
	attrs := []slog.Attr{slog.String("library", "go-redis")}
	if leftOut > 0 {
		attrs = append(attrs, slog.Int("left_out", leftOut))
	}
	l.to.LogAttrs(ctx, slog.LevelWarn, text, attrs...)
}

func (l *Logger) admit(format, text string, now time.Time) (leftOut int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.told[format]
	if t == nil {
		if len(l.told) < maxFormats {
			l.told[format] = &told{last: now}
		}
		return 0, true
	}
	if now.Sub(t.last) < every {
		t.leftOut++
		t.text = text
		return 0, false
	}
	leftOut, t.last, t.leftOut = t.leftOut, now, 0
	return leftOut, true
}

// flush logs the last left-out line of each kind, with the number of lines before it.
func (l *Logger) flush() {
	l.mu.Lock()
	var rest []told
	for _, t := range l.told {
		if t.leftOut > 0 {
			rest = append(rest, *t)
			t.leftOut = 0
		}
	}
	l.mu.Unlock()
	for _, t := range rest {
		l.tell(context.Background(), t.text, t.leftOut-1)
	}
}
