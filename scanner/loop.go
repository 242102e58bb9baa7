package scanner

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/clock"
)

// loop is the goroutine of Start.
type loop struct {
	mu      sync.Mutex
	started bool
	cancel  context.CancelFunc
	done    chan struct{}
}

// start runs do until stop is called or ctx ends: first within a tenth of the interval, then one interval after each
// run, give or take 10 %. At the end it calls finish. It can be started once.
func (l *loop) start(ctx context.Context, interval time.Duration, do, finish func(context.Context)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil {
		return ErrClosed
	}
	if l.started {
		return ErrStarted
	}
	ctx, l.cancel = context.WithCancel(ctx)
	l.started = true
	go func() {
		defer close(l.done)
		defer l.cancel()
		defer finish(ctx)
		wait := rand.N(interval/10 + 1)
		for clock.Pause(ctx, wait) {
			do(ctx)
			wait = clock.Jittered(interval)
		}
	}()
	return nil
}

// stop returns when the goroutine, if there is one, has ended.
func (l *loop) stop() {
	l.mu.Lock()
	started := l.started
	l.mu.Unlock()
	if started {
		l.cancel()
		<-l.done
	}
}
