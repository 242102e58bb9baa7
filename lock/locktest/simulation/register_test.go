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
func (r *register) update(h *history, id string, fence uint64, think time.Duration) {
	read, ok := r.access(fence, func() {})
	if !ok {
		return
	}
	time.Sleep(think)
	r.access(fence, func() {
		if r.version != read {
			h.violate("I3 lost update: %s with fence %d wrote over version %d by %s, having read %d", id, fence, r.version,
				r.writer, read)
		}
		r.version++
		r.writer = id
	})
}

// register returns the store of a resource.
func (h *history) register(name string) *register {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.regs[name] == nil {
		h.regs[name] = new(register)
	}
	return h.regs[name]
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
