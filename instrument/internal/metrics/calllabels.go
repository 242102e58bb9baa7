package metrics

import (
	"context"
	"slices"

	"github.com/lockscope/lockscope/instrument/internal/label"
)

const (
	// MaxLabels is how many labels calls may have.
	MaxLabels = 3
	// MaxLabelValues is how many values each of them may have at a time before further ones become "other".
	MaxLabelValues = 20
	// maxVariants bounds the values of all resources together: each has some 60 series.
	maxVariants = 2000
)

// labelKey finds the value of a label in a context.
type labelKey struct{ name string }

// WithLabel sets the value of a label for calls with the context.
func WithLabel(ctx context.Context, name, value string) context.Context {
	return context.WithValue(ctx, labelKey{name}, value)
}

// labelValues are in the order of declaration; empty for no value.
type labelValues [MaxLabels]string

// callLabels bounds the labels of calls.
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

// bound replaces values without a slot by "other". The mutex must be held.
func (c *callLabels) bound(v labelValues) (bounded labelValues, overflow bool) {
	for i, known := range c.values {
		if v[i] != "" && v[i] != label.Other && known[v[i]] == 0 && len(known) >= MaxLabelValues {
			v[i], overflow = label.Other, true
		}
	}
	return v, overflow
}

// count adds n variants with these values. The mutex must be held.
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

// taken are the labels that metrics of a resource already have, or that Prometheus reserves.
var taken = [...]string{"resource", "outcome", "reason", "class", "kind", "end", "leader", "le", "quantile"}

// UsableLabel reports whether calls may have a label of this name, beside the others.
func UsableLabel(name string, others []string) bool {
	return label.IsName(name) && !slices.Contains(taken[:], name) && !slices.Contains(others, name)
}
