package waits

import (
	"math"
	"math/bits"
	"time"
)

// A Histogram counts durations in buckets that are an eighth of their power of two
// wide, counted in microseconds: a quantile is off by at most 6.3 %, and by at most
// half a microsecond where that is more. What exceeds 4.7 hours counts as that.
const (
	subBits = 3
	octaves = 31
	buckets = (octaves + 1) << subBits
)

// Histogram counts durations in little memory, for quantiles. It is not safe for concurrent use.
type Histogram struct {
	counts   [buckets]uint32
	n        uint64
	min, max time.Duration
}

func bucketOf(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	shift := max(bits.Len64(us)-subBits-1, 0)
	return min(shift<<subBits+int(us>>shift), buckets-1)
}

// middleOf is the middle of a bucket.
func middleOf(bucket int) time.Duration {
	shift := max(bucket>>subBits-1, 0)
	low := uint64(bucket-shift<<subBits) << shift
	return time.Duration(low)*time.Microsecond + time.Microsecond<<shift/2
}

// Add counts a duration.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	if h.n == 0 || d < h.min {
		h.min = d
	}
	h.max = max(h.max, d)
	h.counts[bucketOf(d)]++
	h.n++
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(o *Histogram) {
	if o.n == 0 {
		return
	}
	if h.n == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.n += o.n
	for i, n := range o.counts {
		h.counts[i] += n
	}
}

// Quantile returns 0 if nothing was counted.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := max(uint64(math.Ceil(q*float64(h.n))), 1)
	seen := uint64(0)
	for i, n := range h.counts {
		if seen += uint64(n); seen >= rank {
			return min(max(middleOf(i), h.min), h.max)
		}
	}
	return h.max
}
