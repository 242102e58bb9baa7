package diagnosis

import "time"

// sample is one TIME: what the server said, and between which instants by this
// machine's monotonic clock it said so. All are since the same wall-clock instant.
type sample struct {
	server       time.Duration
	sent, gotten time.Duration
}

func (s sample) offset() time.Duration { return s.server - (s.sent+s.gotten)/2 }

// doubt is the largest error of offset: the server read its clock somewhere
// between sending and receiving.
func (s sample) doubt() time.Duration { return (s.gotten - s.sent) / 2 }

// measure compares the best samples of the first and the last third: the ones
// with the shortest round trip, whose offsets are known best.
func measure(samples []sample) Clock {
	n := len(samples)
	if n == 0 {
		return Clock{}
	}
	best := shortest(samples)
	c := Clock{Samples: n, Offset: best.offset(), OffsetError: best.doubt()}
	third := max(1, n/3)
	early, late := shortest(samples[:third]), shortest(samples[n-third:])
	span := (late.sent+late.gotten)/2 - (early.sent+early.gotten)/2
	if span <= 0 {
		c.DriftError = 1
		return c
	}
	c.Drift = float64(late.offset()-early.offset()) / float64(span)
	c.DriftError = float64(late.doubt()+early.doubt()) / float64(span)
	return c
}

func shortest(samples []sample) sample {
	best := samples[0]
	for _, s := range samples[1:] {
		if s.doubt() < best.doubt() {
			best = s
		}
	}
	return best
}
