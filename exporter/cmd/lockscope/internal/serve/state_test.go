package serve

import (
	"testing"
	"time"
)

// TestAForgottenPageCostsLittle: the longer a reading of all locks takes, the less often it runs. A million keys take
// some 25 s.
func TestAForgottenPageCostsLittle(t *testing.T) {
	for reading, want := range map[time.Duration]time.Duration{
		0: listEvery, 100 * time.Millisecond: listEvery, time.Second: 9 * time.Second,
		25 * time.Second: 225 * time.Second,
	} {
		if got := listPause(reading); got != want {
			t.Errorf("after %v it rests for %v, want %v", reading, got, want)
		}
	}
}
