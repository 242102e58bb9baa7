package waits

import (
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// TestClockSetBack keeps wait points in order whatever the wall clock does.
func TestClockSetBack(t *testing.T) {
	w := New(10 * time.Second)
	at := func(s int64) time.Time { return time.Unix(1000+s, 5) }
	for _, s := range []int64{0, 1, 1, 0, 2, 5, 3, 4, 2, 30, 29, 20, 21, 35} {
		w.Record(at(s), time.Duration(s)*time.Second, Outcome(s%3))
		points := w.Points(at(s))
		if !slices.IsSortedFunc(points, func(a, b state.WaitPoint) int { return a.At.Compare(b.At) }) ||
			len(points) > 10 {
			t.Errorf("after second %d: %+v", s, points)
		}
	}
	for s := range int64(100) {
		w.Record(at(100+s), time.Second, Acquired)
	}
	points := w.Points(at(199))
	if len(points) != 10 || !points[0].At.Equal(time.Unix(1190, 0)) || len(w.past) > 10 {
		t.Errorf("%d points, kept %d: %+v", len(points), len(w.past), points)
	}
}
