package engine

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// timers are kept for the next wait: most waits end before their time is up.
type timers struct{ idle sync.Pool }

// start returns a timer that goes off after d; stop must follow.
func (p *timers) start(d time.Duration) *time.Timer {
	t, ok := p.idle.Get().(*time.Timer)
	if !ok {
		return time.NewTimer(d)
	}
	t.Reset(d)
	return t
}

// stop takes the timer back. Nothing is left in its channel, since Go 1.23.
func (p *timers) stop(t *time.Timer) {
	t.Stop()
	p.idle.Put(t)
}

// signal wakes who waits for the answers of a round of calls: it may be decided.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

// set never blocks.
func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// await returns once a round is decided or its time is up, and otherwise why it was cut
// short: ctx ended, or closing was closed, which may be nil. decided is asked again at
// each signal.
func (e *Engine) await(ctx context.Context, closing <-chan struct{}, patience time.Duration, ready signal, decided func() bool) error {
	if decided() {
		return nil
	}
	timer := e.timers.start(patience)
	defer e.timers.stop(timer)
	for !decided() {
		select {
		case <-ready:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return contextError(ctx)
		case <-closing:
			return lock.ErrClosed
		}
	}
	return nil
}
