package nodes

import (
	"sync"
	"time"
)

// Contention remembers the locks that other processes wait for.
type Contention struct {
	clock func() time.Duration

	mu    sync.Mutex
	until map[string]time.Duration // by lock key: until when others are likely waiting
}

// maxContended bounds the memory of recent contention. Forgetting a lock costs one attempt.
const maxContended = 1024

// NewContention makes an empty memory.
func NewContention(clock func() time.Duration) *Contention {
	return &Contention{clock: clock, until: make(map[string]time.Duration)}
}

// Mark remembers that other processes waited for the lock when it was released, so that this
// process queues behind them.
func (c *Contention) Mark(key string, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.until) >= maxContended {
		clear(c.until)
	}
	c.until[key] = c.clock() + d
}

// Has reports that others are likely waiting for the lock.
func (c *Contention) Has(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.until[key]
	if ok && until < c.clock() {
		delete(c.until, key)
		return false
	}
	return ok
}
