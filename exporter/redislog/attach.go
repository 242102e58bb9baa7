package redislog

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Attach makes go-redis tell l what it has to say, as New describes, until detach is called; detach
// first tells l how many lines were left out since the last of their kind. It is safe to call
// either at any time, and detach more than once.
//
// The first Attach of a process replaces go-redis's logger, which all its clients share, those that
// have nothing to do with locks included. go-redis does not guard that variable: call Attach before
// the first client works, early in main. Later calls touch go-redis no more, so that a logger that
// the program sets afterwards with redis.SetLogger stays. One that it set before is lost.
//
// go-redis does not say which client a line is about. Where several are attached, the one that came
// first is told. Where none is left, lines go to stderr again, as without this package.
func Attach(l *slog.Logger) (detach func()) {
	own := New(l)
	process.add(own)
	return sync.OnceFunc(func() {
		process.remove(own)
		own.flush()
	})
}

// process is what go-redis writes to after the first Attach. There is one because go-redis has one.
var process = fan{stderr: log.New(os.Stderr, "redis: ", log.LstdFlags|log.Lshortfile)}

// fan passes a line to the first of those that are attached.
type fan struct {
	stderr *log.Logger // as go-redis's own
	set    sync.Once

	mu       sync.RWMutex
	attached []*Logger
}

func (f *fan) add(l *Logger) {
	f.mu.Lock()
	f.attached = append(f.attached, l)
	f.mu.Unlock()
	f.set.Do(func() { redis.SetLogger(f) })
}

func (f *fan) remove(l *Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attached = slices.DeleteFunc(f.attached, func(a *Logger) bool { return a == l })
}

// Printf implements the interface of go-redis.
func (f *fan) Printf(ctx context.Context, format string, v ...any) {
	f.mu.RLock()
	var first *Logger
	if len(f.attached) > 0 {
		first = f.attached[0]
	}
	f.mu.RUnlock()
	if first == nil {
		_ = f.stderr.Output(2, fmt.Sprintf(format, v...))
		return
	}
	first.Printf(ctx, format, v...)
}
