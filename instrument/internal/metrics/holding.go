package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// holding is a list of the leases that are held in a series, the one held for longest
// first. A resource has one at a time, or two for the moment in which a release is under
// way; a folded name has many, and the one that is stuck comes first.
type holding struct {
	count, since prometheus.Gauge

	mu sync.Mutex
	list
}

func (h *holding) add(e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.push(e); h.first == e {
		h.tell()
	}
	h.count.Inc()
}

func (h *holding) remove(e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	oldest := h.first == e
	if h.drop(e); oldest {
		h.tell()
	}
	h.count.Dec()
}

// tell says since when the first is held. It expects the mutex to be held.
func (h *holding) tell() {
	if h.first == nil {
		h.since.Set(0)
		return
	}
	h.since.Set(timestamp(h.first.acquired()))
}

// of is since when a lease of the series holds that very resource.
func (h *holding) of(resource string) (since time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := h.first; e != nil; e = e.later {
		if e.resource == resource {
			return e.acquired(), true
		}
	}
	return time.Time{}, false
}
