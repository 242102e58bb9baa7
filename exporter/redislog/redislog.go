// Package redislog makes go-redis write to a *slog.Logger. By itself it writes to stderr, past
// every logger of the program, a line for each connection that fails.
//
//	defer redislog.Attach(logger)() // early in main
//
// go-redis keeps one logger for all clients of a process, those included that have nothing to
// do with locks. Of lockscope's packages only exporter/observe attaches its logger by itself; its
// Config has a field that keeps it from that. Programs that call redis.SetLogger by themselves give
// it what New returns.
package redislog

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// every is how often the same is told: a node that is down fails many dials a second, and is
// in lockscope's own records, metrics and page.
const every = 10 * time.Second

// maxFormats is above what go-redis has.
const maxFormats = 1024

// Logger is what redis.SetLogger takes. It is safe for concurrent use.
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

// New returns a Logger that tells l of what go-redis has to say, as warnings with the attribute
// library="go-redis". Of lines that differ only in their arguments it tells at most one in
// ten seconds, and in left_out how many it left out before. With nil, nobody is told.
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

// flush tells, of each kind with lines that were left out, the last one, and how many there were before it.
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
