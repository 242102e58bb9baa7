package instrument

import (
	"testing"
	"time"
)

// TestLookUpDoesNotAllocate keeps the label out of the cost of an Acquire.
func TestLookUpDoesNotAllocate(t *testing.T) {
	l := &Locker{metrics: newMetrics(shared{maxResources: 10})}
	now := time.Now()
	for _, name := range []string{"order:1001", "user:alice@example.com", "cart:V1StGXR8_Z5jdHi6B-myT"} {
		l.seriesOf(name, now)
		if n := testing.AllocsPerRun(100, func() { l.seriesOf(name, now) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
