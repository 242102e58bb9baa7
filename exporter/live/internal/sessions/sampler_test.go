package sessions

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSampler: the timer runs while there is something to do, and once more, on whole seconds.
func TestSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(time.Now())
		var busy atomic.Int32
		var mu sync.Mutex
		var all []time.Duration
		samples := func() []time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		began := time.Now()
		s := NewSampler(h.Until, func(now time.Time) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, now.Sub(began))
		},
			func() bool { return busy.Load() > 0 })
		time.Sleep(10500 * time.Millisecond)
		if sampled := samples(); len(sampled) != 0 {
			t.Fatalf("sampled after %v, without a call", sampled)
		}
		busy.Add(1)
		for range 100 {
			s.Touch()
		}
		time.Sleep(3 * time.Second)
		busy.Add(-1)
		time.Sleep(time.Hour)
		if sampled := samples(); len(sampled) != 4 || sampled[0] != 11*time.Second || sampled[3] != 14*time.Second {
			t.Errorf("sampled after %v", sampled)
		}
		s.Touch()
		time.Sleep(time.Minute)
		if sampled := samples(); len(sampled) != 5 {
			t.Errorf("sampled after %v", sampled)
		}
	})
}

// TestSamplerSeesLateCall: a call that begins while the timer ends is not forgotten.
func TestSamplerSeesLateCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(time.Now())
		var busy atomic.Bool
		var sampled atomic.Int32
		var s *Sampler
		s = NewSampler(h.Until, func(time.Time) {
			if sampled.Add(1) == 1 { // looked already, and still armed
				busy.Store(true)
				s.Touch()
			} else {
				busy.Store(false)
			}
		}, busy.Load)
		s.Touch()
		time.Sleep(time.Minute)
		if n := sampled.Load(); n != 3 {
			t.Errorf("%d samples, want one for the touch, one for the call and one after it", n)
		}
	})
}
