package metrics

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
	"github.com/lockscope/lockscope/lock"
)

// sweepEvery is how often idle values are looked for when there is no slot.
const sweepEvery = time.Second

// labelSet bounds the label resource: its values and their series.
type labelSet struct {
	*catalogue
	limit int           // values beside those that are reserved
	idle  time.Duration // after which a value is let go; zero or less: never

	mu       sync.RWMutex
	variants variants
	byLabel  map[string]*series
	reserved map[string]*series // by name of the resource, which is not folded
	slots    int                // values that are not reserved
	sweptAt  time.Time
	other    *series // nil until there is something to fold into it
	invalid  *series // nil until there is a name that no lock can have
}

func newLabelSet(c *catalogue, s Settings) *labelSet {
	return &labelSet{
		catalogue: c, limit: s.MaxResources, idle: s.IdleResources, variants: variants{c, newCallLabels(s.Labels)},
		byLabel: make(map[string]*series), reserved: make(map[string]*series),
	}
}

// use finds the series of a resource for a call that begins now. own is the caller's label function.
func (l *labelSet) use(resource string, own func(string) string, now time.Time) *series {
	if lock.ValidateResource(resource) != nil {
		return l.useInvalid(now)
	}
	if s := l.useReserved(resource, now); s != nil {
		return s
	}
	var space [label.MaxLength]byte
	if own != nil {
		if name := own(resource); name != "" {
			return l.useLabel(append(space[:0], name[:min(len(name), label.MaxLength)]...), now)
		}
	}
	return l.useLabel(label.Fold(space[:0], resource), now)
}

// useReserved returns nil if the resource is not reserved.
func (l *labelSet) useReserved(resource string, now time.Time) *series {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if s := l.reserved[resource]; s != nil {
		return s.use(now)
	}
	return nil
}

// useLabel takes a folded label before it is made valid UTF-8. The look-up does not allocate.
func (l *labelSet) useLabel(name []byte, now time.Time) *series {
	l.mu.RLock()
	s := l.byLabel[string(name)]
	full := s == nil && l.other != nil && l.isFull(now)
	if full {
		s = l.other
	}
	if s != nil {
		s.use(now) // before anybody can let it go
	}
	l.mu.RUnlock()
	if full {
		l.overflow.Inc()
	}
	if s != nil {
		return s
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(string(name), now).use(now)
}

// useInvalid is for names that no lock can have. They take no slot.
func (l *labelSet) useInvalid(now time.Time) *series {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.invalid == nil {
		l.invalid = l.fixed(label.Invalid)
	}
	return l.invalid.use(now)
}

// useVariant finds the variant of a series for a call with this context. base stays in use as long as the variant is.
func (l *labelSet) useVariant(ctx context.Context, base *series, now time.Time) *series {
	of := l.variants.labels.of(ctx)
	if of == (labelValues{}) {
		return base
	}
	l.mu.RLock()
	s, overflow := l.variants.known(base, of)
	if s != nil {
		s.use(now) // before anybody can let it go
	}
	l.mu.RUnlock()
	if s == nil {
		l.mu.Lock()
		s, overflow = l.variants.add(base, of)
		s.use(now)
		l.mu.Unlock()
	}
	if overflow {
		l.labelOverflow.Inc()
	}
	return s
}

// reserve gives resources their own slots, which exist from now on.
func (l *labelSet) reserve(resources []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range resources {
		l.reserved[name] = l.fixed(label.Cut(name))
	}
}

func (l *labelSet) add(name string, now time.Time) *series {
	if s := l.byLabel[name]; s != nil {
		return s
	}
	valid := label.Valid(name)
	if s := l.byLabel[valid]; s != nil {
		return s // not kept: there may be any number of such labels
	}
	if l.slots >= l.limit && !l.isFull(now) {
		l.dropIdle(now)
	}
	if l.slots >= l.limit {
		l.overflow.Inc()
		if l.other == nil {
			l.other = l.fixed(label.Other)
		}
		return l.other
	}
	s := l.newBase(valid)
	l.slots++
	return s
}

// isFull reports whether there is no slot, and an attempt to free one has just failed.
func (l *labelSet) isFull(now time.Time) bool {
	return l.slots >= l.limit && (l.idle <= 0 || now.Sub(l.sweptAt) < sweepEvery)
}

// fixed returns the series of a value that stands for many. A resource may have the same name.
func (l *labelSet) fixed(name string) *series {
	s := l.byLabel[name]
	switch {
	case s == nil:
		s = l.newBase(name)
	case !s.reserved:
		l.slots--
	}
	s.reserved = true
	return s
}

// newBase makes the series of a value, for calls without labels.
func (l *labelSet) newBase(name string) *series {
	var none labelValues
	s := newSeries(l.catalogue, name, none[:len(l.variants.labels.names)]...)
	l.byLabel[name] = s
	return s
}

// letGo removes values that were idle for long.
func (l *labelSet) letGo(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropIdle(now)
}

func (l *labelSet) dropIdle(now time.Time) {
	if l.idle <= 0 {
		return
	}
	l.sweptAt = now
	before := now.Add(-l.idle).UnixNano()
	for name, s := range l.byLabel {
		l.variants.drop(s, before)
		if s.reserved || !s.unusedSince(before) {
			continue
		}
		l.variants.drop(s, math.MaxInt64) // nobody uses them: they would use the base
		delete(l.byLabel, name)
		l.slots--
		l.forget(prometheus.Labels{"resource": name})
	}
}

// tell sets the gauges that are computed when they are collected.
func (l *labelSet) tell(now time.Time, objective time.Duration) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	stalled := make(map[lockKey]bool)
	l.each(func(s *series) { s.waiting.stalled(now, objective, stalled) })
	l.each(func(s *series) {
		if s.base == nil {
			s.lines.charge(now)
		}
		s.tell(now, objective, stalled)
	})
}

// each passes each base, followed by its variants. The mutex must be held.
func (l *labelSet) each(do func(*series)) {
	for _, s := range l.byLabel {
		do(s)
		for _, v := range s.variants {
			do(v)
		}
	}
}
