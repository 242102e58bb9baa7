package instrument

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
)

const (
	// MaxLabels is how many labels WithLabels may add.
	MaxLabels = 3
	// MaxLabelValues is how many values each of them may take at a time before further ones
	// become "other".
	MaxLabelValues = 20
	// maxVariants bounds the values of all resources together: each has some 60 series.
	maxVariants = 2000
)

// labelKey finds the value of a label in a context.
type labelKey struct{ name string }

// ContextWithLabel gives the label name, which WithLabels has declared, this value in the metrics of
// every Acquire with the context, and of the lease that comes of it. Labels that were not declared are
// ignored; an empty value is as none.
func ContextWithLabel(ctx context.Context, name, value string) context.Context {
	return context.WithValue(ctx, labelKey{name}, value)
}

// labelValues are in the order in which the labels were declared; empty where there is none.
type labelValues [MaxLabels]string

// callLabels keeps the labels of WithLabels bounded.
type callLabels struct {
	names    []string
	keys     []any            // in contexts
	values   []map[string]int // of each name: how many variants have the value
	variants int
}

func newCallLabels(names []string) callLabels {
	c := callLabels{names: names}
	for _, name := range names {
		c.keys, c.values = append(c.keys, labelKey{name}), append(c.values, make(map[string]int))
	}
	return c
}

// of reads the values from a context.
func (c *callLabels) of(ctx context.Context) (v labelValues) {
	for i, key := range c.keys {
		if value, _ := ctx.Value(key).(string); value != "" {
			v[i] = label.Cut(value)
		}
	}
	return v
}

// bound makes those values "other" for which there is no slot. It expects the mutex to be held.
func (c *callLabels) bound(v labelValues) (bounded labelValues, overflow bool) {
	for i, known := range c.values {
		if v[i] != "" && v[i] != label.Other && known[v[i]] == 0 && len(known) >= MaxLabelValues {
			v[i], overflow = label.Other, true
		}
	}
	return v, overflow
}

// count adds n variants with these values. It expects the mutex to be held.
func (c *callLabels) count(v labelValues, n int) {
	c.variants += n
	for i, known := range c.values {
		if v[i] == "" || v[i] == label.Other {
			continue
		}
		if known[v[i]] += n; known[v[i]] == 0 {
			delete(known, v[i])
		}
	}
}

// useCallLabels finds the variant of a series for a call with this context. base, which
// is in use, stays so as long as the variant is.
func (m *metrics) useCallLabels(ctx context.Context, base *series, now time.Time) *series {
	v := m.callLabels.of(ctx)
	if v == (labelValues{}) {
		return base
	}
	m.mu.RLock()
	bounded, overflow := m.callLabels.bound(v)
	s := base.variants[bounded]
	if s != nil {
		s.use(now) // before anybody can let it go
	}
	m.mu.RUnlock()
	if s == nil {
		m.mu.Lock()
		s, overflow = m.addVariant(base, v)
		s.use(now)
		m.mu.Unlock()
	}
	if overflow {
		m.labelOverflow.Inc()
	}
	return s
}

func (m *metrics) addVariant(base *series, v labelValues) (s *series, overflow bool) {
	v, overflow = m.callLabels.bound(v)
	if m.callLabels.variants >= maxVariants && base.variants[v] == nil {
		for i := range v {
			if v[i] != "" {
				v[i], overflow = label.Other, true
			}
		}
	}
	if s := base.variants[v]; s != nil {
		return s, overflow
	}
	s = m.newSeries(base.label, v)
	s.base = base
	if base.variants == nil {
		base.variants = make(map[labelValues]*series)
	}
	base.variants[v] = s
	m.callLabels.count(v, 1)
	return s, overflow
}

// dropVariants lets go of those that were not used since before.
func (m *metrics) dropVariants(base *series, before int64) {
	for v, s := range base.variants {
		if s.users.Load() > 0 || s.usedAt.Load() > before {
			continue
		}
		delete(base.variants, v)
		m.callLabels.count(v, -1)
		labels := prometheus.Labels{"resource": base.label}
		for i, name := range m.callLabels.names {
			labels[name] = v[i]
		}
		m.deleteSeries(labels)
	}
}

func (m *metrics) deleteSeries(labels prometheus.Labels) {
	for _, v := range m.perResource {
		v.DeletePartialMatch(labels)
	}
}

// taken are the labels that metrics of a resource have already, or that Prometheus keeps for itself.
var taken = [...]string{"resource", "outcome", "reason", "le", "quantile"}

func checkLabels(names []string) error {
	if len(names) > MaxLabels {
		return fmt.Errorf("%w: WithLabels: %d labels, at most %d are allowed", ErrInvalidOption, len(names), MaxLabels)
	}
	for i, name := range names {
		if !label.IsName(name) || slices.Contains(taken[:], name) || slices.Contains(names[:i], name) {
			return fmt.Errorf("%w: WithLabels(%q): a name of letters, digits and '_' is needed that no other label has", ErrInvalidOption, name)
		}
	}
	return nil
}
