package instrument

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/instrument/internal/label"
)

// TestLabelValuesOfAllResourcesAreBounded: where there are as many as there can be, those that are there stay.
func TestLabelValuesOfAllResourcesAreBounded(t *testing.T) {
	m, now := newMetrics(shared{maxResources: 1, labels: []string{"tier", "job"}}), time.Now()
	base := m.useLabel([]byte("order"), now)
	gold := ContextWithLabel(t.Context(), "tier", "gold")
	known := m.useCallLabels(gold, base, now)
	m.callLabels.variants = maxVariants
	if m.useCallLabels(gold, base, now) != known {
		t.Error("a value that was there before the limit has other series")
	}
	other := m.useCallLabels(ContextWithLabel(t.Context(), "job", "nightly"), base, now)
	if other != base.variants[labelValues{"", label.Other}] || len(base.variants) != 2 {
		t.Errorf("the series are %v", base.variants)
	}
}
