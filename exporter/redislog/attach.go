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

// Attach sends the log lines of go-redis to l, as New describes, until detach is called. detach first logs how many
// lines were left out. Attach and detach may be called at any time, and detach more than once.
//
// The first Attach of a process replaces go-redis's logger, which all its clients share, even those that do not lock.
// go-redis does not guard that variable: call Attach early in main, before the first client works. Later calls do not
// touch go-redis, so a logger that the program sets afterwards with redis.SetLogger stays. A logger set before is
// lost.
//
// go-redis does not say which client a line is about. Of several attached loggers, the first one attached receives
// the lines. When none is left, lines go to stderr again, as without this package.
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

// fan passes a line to the first attached logger.
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
