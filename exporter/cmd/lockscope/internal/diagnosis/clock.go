package diagnosis

import "time"

// Sample is one TIME: what the server said, and between which instants by this
// machine's monotonic clock it said so. All are since the same wall-clock instant.
type Sample struct {
	Server       time.Duration
	Sent, Gotten time.Duration
}

func (s Sample) offset() time.Duration { return s.Server - (s.Sent+s.Gotten)/2 }

// doubt is the largest error of offset: the server read its clock somewhere
// between sending and receiving.
func (s Sample) doubt() time.Duration { return (s.Gotten - s.Sent) / 2 }

// Measure compares the best samples of the first and the last third: the ones
// with the shortest round trip, whose offsets are known best.
func Measure(samples []Sample) Clock {
	n := len(samples)
	if n == 0 {
		return Clock{}
	}
	best := shortest(samples)
	c := Clock{Samples: n, Offset: best.offset(), OffsetError: best.doubt()}
	third := max(1, n/3)
	early, late := shortest(samples[:third]), shortest(samples[n-third:])
	span := (late.Sent+late.Gotten)/2 - (early.Sent+early.Gotten)/2
	if span <= 0 {
		c.DriftError = 1
		return c
	}
	c.Drift = float64(late.offset()-early.offset()) / float64(span)
	c.DriftError = float64(late.doubt()+early.doubt()) / float64(span)
	return c
}

func shortest(samples []Sample) Sample {
	best := samples[0]
	for _, s := range samples[1:] {
		if s.doubt() < best.doubt() {
			best = s
		}
	}
	return best
}
