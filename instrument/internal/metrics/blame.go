package metrics

import (
	"cmp"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
	"github.com/lockscope/lockscope/lock"
)

// maxBlamed is how many holders have series of their own.
const maxBlamed = 200

// Label values of holders without a name.
const (
	unknownHolder = "unknown"
	handedOver    = "being handed over" // nobody holds the lock: it is kept for the next waiter
)

// blame counts the time that calls of this process waited behind holders, by resource, instance and call site of the
// holder. Instances come and go with every deployment: those that nobody waits for any more are let go.
type blame struct {
	inflicted *prometheus.CounterVec
	idle      time.Duration // after which a holder is let go; zero or less: never

	mu      sync.Mutex
	holders map[blamed]*inflicted
}

// blamed are the values of the labels resource, holder and call_site.
type blamed struct{ resource, holder, callSite string }

type inflicted struct {
	counter prometheus.Counter
	last    time.Time
}

func newBlame(vec *prometheus.CounterVec, idle time.Duration) *blame {
	return &blame{inflicted: vec, idle: idle, holders: make(map[blamed]*inflicted)}
}

// charge counts time behind a holder. A lock that another library wrote does not name its holder.
func (b *blame) charge(resource string, h *lock.HeldError, took time.Duration) {
	now := time.Now()
	key := blamed{resource, label.Cut(cmp.Or(h.Holder.Instance, unknownHolder)), label.Cut(h.Holder.CallSite)}
	if h.HandedOver {
		key = blamed{resource: resource, holder: handedOver}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.holders[key]
	if of == nil {
		of = b.add(key, now)
	}
	of.last = now
	of.counter.Add(took.Seconds())
}

// add makes room if it can. The mutex must be held.
func (b *blame) add(key blamed, now time.Time) *inflicted {
	if len(b.holders) >= maxBlamed {
		b.drop(now)
	}
	if len(b.holders) >= maxBlamed {
		key = blamed{label.Other, label.Other, label.Other}
		if of := b.holders[key]; of != nil {
			return of
		}
	}
	of := &inflicted{counter: b.inflicted.WithLabelValues(key.holder, key.callSite, key.resource)}
	b.holders[key] = of
	return of
}

// letGo drops holders that nobody has waited for in a while.
func (b *blame) letGo(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(now)
}

func (b *blame) drop(now time.Time) {
	if b.idle <= 0 {
		return
	}
	for key, of := range b.holders {
		if now.Sub(of.last) >= b.idle {
			delete(b.holders, key)
			b.inflicted.DeleteLabelValues(key.holder, key.callSite, key.resource)
		}
	}
}
