package simulation

import (
	"sync"
	"time"
)

// register is the store that a lock protects: it rejects tokens lower than it has seen. While tokens are right, no
// update is lost, whatever else fails.
type register struct {
	mu      sync.Mutex
	highest uint64
	version int
	writer  string
}

// update reads, waits, and writes. The store must accept a write only if it was made from the latest version (I3).
func (r *register) update(h *history, rec *leaseRecord, think time.Duration) {
	read, ok := r.access(rec.fence, func() {})
	if !ok {
		return
	}
	time.Sleep(think)
	r.access(rec.fence, func() {
		if r.version != read {
			h.violate("I3 lost update: %v wrote over version %d by %s, having read %d", rec, r.version, r.writer, read)
		}
		r.version++
		r.writer = rec.id
	})
}

func (r *register) access(token uint64, do func()) (version int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if token < r.highest {
		return 0, false
	}
	r.highest = token
	version = r.version
	do()
	return version, true
}
