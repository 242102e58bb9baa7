package instrument

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
)

// sweepEvery is how often it is looked for idle values when there is no slot.
const sweepEvery = time.Second

// labelSet keeps the label resource bounded: which values there are, and their series.
type labelSet struct {
	limit int           // values beside those that are reserved
	idle  time.Duration // after which a value is let go; zero or less: never

	byLabel  map[string]*series
	reserved map[string]*series // by name of the resource, which is not folded
	slots    int                // values that are not reserved
	sweptAt  time.Time
	other    *series // nil until there is something to fold into it
	invalid  *series // nil until there is a name that no lock can have
}

func newLabelSet(limit int, idle time.Duration) labelSet {
	return labelSet{limit: limit, idle: idle, byLabel: make(map[string]*series), reserved: make(map[string]*series)}
}

// use counts a call that needs the series; done must follow.
func (s *series) use(now time.Time) *series {
	s.users.Add(1)
	s.touch(now)
	return s
}

func (s *series) done() {
	s.touch(time.Now())
	s.users.Add(-1)
	if s.base != nil {
		s.base.done()
	}
}

// touch writes at most once a second: a resource that is in much use is on many cores.
func (s *series) touch(now time.Time) {
	if at := now.UnixNano(); at-s.usedAt.Load() > int64(time.Second) {
		s.usedAt.Store(at)
	}
}

// useReserved is nil if the resource is not reserved.
func (m *metrics) useReserved(resource string, now time.Time) *series {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if s := m.labels.reserved[resource]; s != nil {
		return s.use(now)
	}
	return nil
}

// useLabel takes a label as it comes from folding, before it is made valid UTF-8. The
// look-up does not allocate.
func (m *metrics) useLabel(label []byte, now time.Time) *series {
	m.mu.RLock()
	s := m.labels.byLabel[string(label)]
	full := s == nil && m.labels.other != nil && m.labels.isFull(now)
	if full {
		s = m.labels.other
	}
	if s != nil {
		s.use(now) // before anybody can let it go
	}
	m.mu.RUnlock()
	if full {
		m.overflow.Inc()
	}
	if s != nil {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.addLabel(string(label), now).use(now)
}

// isFull reports that there is no slot, and that it was tried to get one just now.
func (s *labelSet) isFull(now time.Time) bool {
	return s.slots >= s.limit && (s.idle <= 0 || now.Sub(s.sweptAt) < sweepEvery)
}

// useInvalid is for names that no lock can have: they take no slot.
func (m *metrics) useInvalid(now time.Time) *series {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.labels.invalid == nil {
		m.labels.invalid = m.fixedSeries(label.Invalid)
	}
	return m.labels.invalid.use(now)
}

// fixedSeries is of a value that stands for many; a resource may have its name.
func (m *metrics) fixedSeries(label string) *series {
	s := m.labels.byLabel[label]
	switch {
	case s == nil:
		s = m.newSeries(label, labelValues{})
		m.labels.byLabel[label] = s
	case !s.reserved:
		m.labels.slots--
	}
	s.reserved = true
	return s
}

func (m *metrics) addLabel(name string, now time.Time) *series {
	set := &m.labels
	if s := set.byLabel[name]; s != nil {
		return s
	}
	valid := label.Valid(name)
	if s := set.byLabel[valid]; s != nil {
		return s // not kept: there may be any number of such labels
	}
	if set.slots >= set.limit && !set.isFull(now) {
		m.dropIdle(now)
	}
	if set.slots >= set.limit {
		m.overflow.Inc()
		if set.other == nil {
			set.other = m.fixedSeries(label.Other)
		}
		return set.other
	}
	s := m.newSeries(valid, labelValues{})
	set.byLabel[valid] = s
	set.slots++
	return s
}

// reserve gives resources slots of their own, which exist from now on.
func (m *metrics) reserve(resources []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range resources {
		m.labels.reserved[name] = m.fixedSeries(label.Cut(name))
	}
}

// letGo removes what nobody has used for a while.
func (m *metrics) letGo() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropIdle(time.Now())
}

func (m *metrics) dropIdle(now time.Time) {
	if m.labels.idle <= 0 {
		return
	}
	m.labels.sweptAt = now
	before := now.Add(-m.labels.idle).UnixNano()
	for label, s := range m.labels.byLabel {
		m.dropVariants(s, before)
		if s.reserved || s.users.Load() > 0 || s.usedAt.Load() > before {
			continue
		}
		m.dropVariants(s, math.MaxInt64) // nobody uses them: they would use the base
		delete(m.labels.byLabel, label)
		m.labels.slots--
		m.deleteSeries(prometheus.Labels{"resource": label})
	}
}
