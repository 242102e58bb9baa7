package instrument

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// holding is a list of the leases that are held in a series, the one held for longest
// first. A resource has one at a time, or two for the moment in which a release is under
// way; a folded name has many, and the one that is stuck comes first.
type holding struct {
	count, since prometheus.Gauge

	mu          sync.Mutex
	first, last *lease
}

func (h *holding) add(m *lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m.earlier = h.last
	if h.last != nil {
		h.last.later = m
	} else {
		h.first = m
		h.tell()
	}
	h.last = m
	h.count.Inc()
}

func (h *holding) remove(m *lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.later != nil {
		m.later.earlier = m.earlier
	} else {
		h.last = m.earlier
	}
	if m.earlier != nil {
		m.earlier.later = m.later
	} else {
		h.first = m.later
		h.tell()
	}
	m.earlier, m.later = nil, nil
	h.count.Dec()
}

// tell says since when the first is held. It expects the mutex to be held.
func (h *holding) tell() {
	if h.first == nil {
		h.since.Set(0)
		return
	}
	acquired := h.first.call.began.Add(h.first.waited)
	h.since.Set(float64(acquired.UnixMicro()) / 1e6)
}
