package engine

import (
	"sync"
	"time"
)

// contention remembers the locks that other processes wait for.
type contention struct {
	clock func() time.Duration

	mu    sync.Mutex
	until map[string]time.Duration // by lock key: until when others are likely waiting
}

// maxContended bounds the memory of recent contention. Forgetting a lock costs one attempt.
const maxContended = 1024

func newContention(clock func() time.Duration) *contention {
	return &contention{clock: clock, until: make(map[string]time.Duration)}
}

// mark remembers that other processes waited for the lock when it was released, so that this
// process queues behind them.
func (c *contention) mark(key string, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.until) >= maxContended {
		clear(c.until)
	}
	c.until[key] = c.clock() + d
}

// has reports that others are likely waiting for the lock.
func (c *contention) has(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.until[key]
	if ok && until < c.clock() {
		delete(c.until, key)
		return false
	}
	return ok
}
