package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// heldLeases is a list of the held leases of a series, the oldest first. A resource has one at a time, or two while a
// release is running. A folded name has many, and the oldest may be stuck.
type heldLeases struct {
	count, since prometheus.Gauge

	mu sync.Mutex
	list
}

func (h *heldLeases) add(e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.push(e); h.first == e {
		h.tell()
	}
	h.count.Inc()
}

func (h *heldLeases) remove(e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	oldest := h.first == e
	if h.drop(e); oldest {
		h.tell()
	}
	h.count.Dec()
}

// tell sets the acquisition time of the first lease. The mutex must be held.
func (h *heldLeases) tell() {
	if h.first == nil {
		h.since.Set(0)
		return
	}
	h.since.Set(timestamp(h.first.acquired()))
}

// of returns since when a lease of the series has held exactly that lock.
func (h *heldLeases) of(asked lockKey) (since time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := h.first; e != nil; e = e.later {
		if (lockKey{e.name(), e.keyspace, e.owner}).shared() == asked.shared() {
			return e.acquired(), true
		}
	}
	return time.Time{}, false
}
