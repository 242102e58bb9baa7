package timeline

import (
	"slices"
	"testing"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// TestBuffer keeps the first half and the latest.
func TestBuffer(t *testing.T) {
	var b buffer
	for i := range 200 {
		b.add(Step{Attempt: i})
	}
	var attempts []int
	for _, s := range b.steps {
		attempts = append(attempts, s.Attempt)
	}
	slices.Sort(attempts)
	if len(attempts) != state.MaxSteps || b.omitted != 200-state.MaxSteps || attempts[29] != 29 ||
		attempts[30] != 170 || attempts[59] != 199 {
		t.Errorf("omitted %d of %v", b.omitted, attempts)
	}
}
