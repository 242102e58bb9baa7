package lock

import (
	"sync"
	"time"
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
