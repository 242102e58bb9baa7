package ledger

import (
	"math"
	"math/bits"
	"time"
)

// subBits makes 128 buckets an octave: a quantile is at most 0.8 % above the true
// one, and exact below 256 us.
const subBits = 7

// histogram counts durations in microseconds. Its memory grows with the logarithm
// of the longest, not with their number.
type histogram struct {
	counts []uint64
	total  uint64
	max    time.Duration
}

func (h *histogram) add(d time.Duration) {
	i := bucketOf(uint64(max(d, 0).Microseconds()))
	h.grow(i + 1)
	h.counts[i]++
	h.total++
	h.max = max(h.max, d)
}

func (h *histogram) merge(other *histogram) {
	h.grow(len(other.counts))
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
	h.max = max(h.max, other.max)
}

func (h *histogram) grow(n int) {
	if missing := n - len(h.counts); missing > 0 {
		h.counts = append(h.counts, make([]uint64, missing)...)
	}
}

// quantile is the smallest duration that at least the share q does not exceed,
// rounded up to the end of its bucket.
func (h *histogram) quantile(q float64) time.Duration {
	rank := max(1, uint64(math.Ceil(q*float64(h.total))))
	var seen uint64
	for i, n := range h.counts {
		if seen += n; seen >= rank {
			return min(h.max, time.Duration(endOf(i))*time.Microsecond)
		}
	}
	return h.max
}

// bucketOf keeps the subBits+1 leading bits of a number.
func bucketOf(us uint64) int {
	shift := max(0, bits.Len64(us)-subBits-1)
	return shift<<subBits + int(us>>shift)
}

// endOf is the largest number in bucket i.
func endOf(i int) uint64 {
	shift := max(0, i>>subBits-1)
	leading := uint64(i - shift<<subBits)
	return (leading+1)<<shift - 1
}
