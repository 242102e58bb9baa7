package metrics

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/instrument/internal/label"
)

// TestLabelValuesOfAllResourcesAreBounded: at the limit, the existing ones stay.
func TestLabelValuesOfAllResourcesAreBounded(t *testing.T) {
	m, now := New(Settings{MaxResources: 1, Labels: []string{"tier", "job"}}).labels, time.Now()
	base := m.useLabel([]byte("order"), now)
	gold := WithLabel(t.Context(), "tier", "gold")
	known := m.useVariant(gold, base, now)
	m.variants.labels.variants = maxVariants
	if m.useVariant(gold, base, now) != known {
		t.Error("a value that was there before the limit has other series")
	}
	other := m.useVariant(WithLabel(t.Context(), "job", "nightly"), base, now)
	if other != base.variants[labelValues{"", label.Other}] || len(base.variants) != 2 {
		t.Errorf("the series are %v", base.variants)
	}
}
