package waits

import (
	"iter"
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

// Minute has a T for each five seconds of the last minute.
type Minute[T any] struct {
	slots [60 / slotSeconds]struct {
		at int64
		of T
	}
}

const slotSeconds = 5

// At returns the T of a second, which is zero if that is the first of its slot.
func (m *Minute[T]) At(second int64) *T {
	at := second / slotSeconds
	s := &m.slots[at%int64(len(m.slots))]
	if s.at != at {
		var none T
		s.at, s.of = at, none
	}
	return &s.of
}

// Last yields those of the minute before a second.
func (m *Minute[T]) Last(second int64) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		last := second / slotSeconds
		for i := range m.slots {
			s := &m.slots[i]
			if s.at > last-int64(len(m.slots)) && s.at <= last && !yield(&s.of) {
				return
			}
		}
	}
}
