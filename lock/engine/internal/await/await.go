// Package await lets a caller wait until the answers of nodes decide its call.
package await

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// Timers are kept for the next wait: most waits end before their time is up.
type Timers struct{ idle sync.Pool }

// Start returns a timer that goes off after d; Stop must follow.
func (p *Timers) Start(d time.Duration) *time.Timer {
	t, ok := p.idle.Get().(*time.Timer)
	if !ok {
		return time.NewTimer(d)
	}
	t.Reset(d)
	return t
}

// Stop takes the timer back. Nothing is left in its channel, since Go 1.23.
func (p *Timers) Stop(t *time.Timer) {
	t.Stop()
	p.idle.Put(t)
}

// Signal wakes who waits for the answers of a round of calls: it may be decided.
type Signal chan struct{}

// NewSignal makes one that is not set.
func NewSignal() Signal { return make(Signal, 1) }

// Set never blocks.
func (s Signal) Set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Await returns once a round is decided or its time is up, and otherwise why it was cut
// short: ctx ended, or closing was closed, which may be nil. decided is asked again at
// each Signal.
func (p *Timers) Await(
	ctx context.Context, closing <-chan struct{}, patience time.Duration, ready Signal, decided func() bool,
) error {
	if decided() {
		return nil
	}
	timer := p.Start(patience)
	defer p.Stop(timer)
	for !decided() {
		select {
		case <-ready:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return Ended(ctx)
		case <-closing:
			return lock.ErrClosed
		}
	}
	return nil
}

// Ended is why ctx ended, with its cause if somebody gave one. A wait budget
// that is spent is not a deadline of the caller's: it is ErrMaxWait alone.
func Ended(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), lock.ErrMaxWait) {
		return lock.ErrMaxWait
	}
	return carried.Why(ctx)
}
