package waits

import (
	"slices"
	"testing"
	"time"
)

// TestStalls are times in which calls waited and none acquired anything, of any length from three seconds on.
func TestStalls(t *testing.T) {
	w := New(time.Minute)
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	const s = time.Second
	stalls := func(now float64, waited time.Duration) (took []float64) {
		for _, x := range w.Stalls(at(now), waited) {
			took = append(took, x.Took)
		}
		return took
	}
	for _, step := range []struct {
		now     float64
		took    time.Duration
		outcome Outcome
		waited  time.Duration // by who waits now
		want    []float64
		stalled float64
	}{
		{now: 0, outcome: Acquired},
		{now: 20, took: s, outcome: Failed}, // nobody waited for most of the time
		{now: 21, took: 2 * s, outcome: Missed, waited: 4 * s, want: []float64{4}, stalled: 4}, // it acquired nothing
		{now: 22, took: 5 * s, outcome: Acquired, waited: 5 * s, want: []float64{5}},
		{now: 23, took: 9 * s, outcome: Acquired, waited: s / 2, want: []float64{5}}, // the one before came a second ago
		{now: 40, took: 10 * s, outcome: Failed, waited: 12 * s, want: []float64{5, 12}, stalled: 12},
		{now: 84, took: s, outcome: Acquired}, // a minute after
	} {
		w.Record(at(step.now), step.took, step.outcome)
		if got := stalls(step.now, step.waited); !slices.Equal(got, step.want) {
			t.Errorf("at %v: stalls of %v, want %v", step.now, got, step.want)
		}
		if got := w.Recent(at(step.now), slices.Values([]time.Duration{step.waited})).Stalled; got != step.stalled {
			t.Errorf("at %v: for %v s nothing was acquired, want %v", step.now, got, step.stalled)
		}
	}
	for i := range 3 * maxStalls {
		w.Record(at(100+10*float64(i)), 9*s, Acquired)
	}
	if len(w.stalls) != maxStalls {
		t.Errorf("%d are kept", len(w.stalls))
	}
}
