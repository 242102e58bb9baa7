package instrument

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
	leaseList
}

func (h *holding) add(m *lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.push(m); h.first == m {
		h.tell()
	}
	h.count.Inc()
}

func (h *holding) remove(m *lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	oldest := h.first == m
	if h.drop(m); oldest {
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
	h.since.Set(timestamp(h.first.call.began.Add(h.first.waited)))
}

// timestamp is in seconds since 1970.
func timestamp(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
