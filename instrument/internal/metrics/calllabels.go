package metrics

import (
	"context"
	"slices"

	"github.com/lockscope/lockscope/instrument/internal/label"
)

const (
	// MaxLabels is how many labels calls may have.
	MaxLabels = 3
	// MaxLabelValues is how many values each of them may take at a time before further ones
	// become "other".
	MaxLabelValues = 20
	// maxVariants bounds the values of all resources together: each has some 60 series.
	maxVariants = 2000
)

// labelKey finds the value of a label in a context.
type labelKey struct{ name string }

// WithLabel gives the calls with the context a value of one of their labels.
func WithLabel(ctx context.Context, name, value string) context.Context {
	return context.WithValue(ctx, labelKey{name}, value)
}

// labelValues are in the order in which the labels were declared; empty where there is none.
type labelValues [MaxLabels]string

// callLabels keeps the labels of calls bounded.
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

// taken are the labels that metrics of a resource have already, or that Prometheus keeps for itself.
var taken = [...]string{"resource", "outcome", "reason", "le", "quantile"}

// UsableLabel reports that calls may have a label of this name, beside the others.
func UsableLabel(name string, others []string) bool {
	return label.IsName(name) && !slices.Contains(taken[:], name) && !slices.Contains(others, name)
}
