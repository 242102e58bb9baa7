package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/label"
)

// variants makes the series for calls with labels. The series for calls without labels is their base. The mutex of
// the set guards it and the variants of each base.
type variants struct {
	*catalogue
	labels callLabels
}

// known returns the variant with these values, or nil if there is none yet.
func (v *variants) known(base *series, of labelValues) (s *series, overflow bool) {
	bounded, overflow := v.labels.bound(of)
	return base.variants[bounded], overflow
}

func (v *variants) add(base *series, of labelValues) (s *series, overflow bool) {
	of, overflow = v.labels.bound(of)
	if v.labels.variants >= maxVariants && base.variants[of] == nil {
		for i := range of {
			if of[i] != "" {
				of[i], overflow = label.Other, true
			}
		}
	}
	if s := base.variants[of]; s != nil {
		return s, overflow
	}
	s = newSeries(v.catalogue, base.label, of[:len(v.labels.names)]...)
	s.base, s.lines = base, base.lines
	if base.variants == nil {
		base.variants = make(map[labelValues]*series)
	}
	base.variants[of] = s
	v.labels.count(of, 1)
	return s, overflow
}

// drop removes the variants that were not used since before.
func (v *variants) drop(base *series, before int64) {
	for of, s := range base.variants {
		if !s.unusedSince(before) {
			continue
		}
		delete(base.variants, of)
		v.labels.count(of, -1)
		labels := prometheus.Labels{"resource": base.label}
		for i, name := range v.labels.names {
			labels[name] = of[i]
		}
		v.forget(labels)
	}
}
