package waits

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestQuantiles compares with sorted waits of every size.
func TestQuantiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	distributions := map[string]func() time.Duration{
		"even":        func() time.Duration { return time.Duration(random.Int64N(int64(time.Second))) },
		"exponential": func() time.Duration { return time.Duration(random.ExpFloat64() * float64(3*time.Millisecond)) },
		"two humps": func() time.Duration {
			if random.IntN(10) == 0 {
				return 5*time.Second + time.Duration(random.Int64N(int64(time.Second)))
			}
			return 100*time.Microsecond + time.Duration(random.Int64N(int64(time.Millisecond)))
		},
		"hours":    func() time.Duration { return time.Duration(random.Int64N(int64(4 * time.Hour))) },
		"constant": func() time.Duration { return 1234567 * time.Nanosecond },
	}
	for name, draw := range distributions {
		for _, n := range []int{1, 2, 10, 99, 10_000} {
			var h, left, right Histogram
			all := make([]time.Duration, n)
			for i := range all {
				all[i] = draw()
				h.Add(all[i])
				if i%3 == 0 {
					left.Add(all[i])
				} else {
					right.Add(all[i])
				}
			}
			slices.Sort(all)
			left.Merge(&right)
			for _, q := range []float64{0, .01, .5, .9, .99, 1} {
				want := all[max(int(float64(n)*q+.9999999), 1)-1]
				got := h.Quantile(q)
				if off := (got - want).Abs(); float64(off) > max(.0626*float64(want), float64(time.Microsecond/2)) {
					t.Errorf("%s: quantile %v of %d is %v, want %v", name, q, n, got, want)
				}
				if merged := left.Quantile(q); merged != got {
					t.Errorf("%s: quantile %v is %v when merged, %v before", name, q, merged, got)
				}
			}
		}
	}
}

func TestBuckets(t *testing.T) {
	last := -1
	for us := time.Duration(0); us < 1<<36; us += max(us/50, 1) {
		i := bucketOf(us * time.Microsecond)
		if i < last || i > last+1 || i >= buckets {
			t.Fatalf("%d us is in bucket %d, after %d", us, i, last)
		}
		last = i
	}
	if last != buckets-1 {
		t.Errorf("the last bucket is %d, want %d", last, buckets-1)
	}
	for i := range buckets {
		if got := bucketOf(middleOf(i)); got != i {
			t.Errorf("the middle %v of bucket %d is in bucket %d", middleOf(i), i, got)
		}
	}
	if bucketOf(-time.Second) != 0 || bucketOf(1<<62) != buckets-1 {
		t.Error("what is out of range has no bucket")
	}
}
