package metrics

import (
	"testing"
	"time"
)

// TestLookUpDoesNotAllocate: the label adds no allocation to an Acquire.
func TestLookUpDoesNotAllocate(t *testing.T) {
	l := New(Settings{MaxResources: 10}).labels
	now := time.Now()
	for _, name := range []string{"order:1001", "user:alice@example.com", "cart:V1StGXR8_Z5jdHi6B-myT"} {
		l.use(name, nil, now)
		if n := testing.AllocsPerRun(100, func() { l.use(name, nil, now) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
