package clock

import (
	"math"
	"slices"
	"time"
)

const (
	// tolerance is how much slower other clients may become.
	tolerance = 1.3
	// quantile of the latencies is what the tolerance is about. It is below the p99 that users look at: a page delays
	// many commands by a little, which the p95 shows with fewer of them, and earlier.
	quantile = 0.95
	// remembered bounds the calm latencies that are known: those of some seconds, so that a server that others load
	// is compared with itself.
	remembered = 128
	// enough calm latencies make a baseline. Until then the pace is the flat one.
	enough = 16
	// everyProbe is the time between two small commands, on average.
	everyProbe = 2 * time.Millisecond
	// maxWeight bounds what one latency counts for. Where commands take long, one stands for those that would have
	// been sent meanwhile.
	maxWeight = 8
	// hung is how many times slower a command is than the baseline if the server hung. It has the highest weight.
	hung = 10
	// restAfter is the number of commands after which the server rests, and the baseline is measured again.
	restAfter = 100
	// leastPause is the shortest wait that timers keep. Shorter pauses add up to it.
	leastPause = time.Millisecond
	// worthwhile is the number of keys below which a page costs a server more than its keys do.
	worthwhile = 50
	// smallest is the largest part by which pages shrink.
	smallest = 10

	slowdown = 0.9  // of the speed, by each command that is too slow
	attempt  = 1.05 // of the speed, by each other command at first; each one that is too slow halves the growth
)

// speedup balances slowdown if as many commands are too slow as the quantile allows.
var speedup = math.Pow(slowdown, -(1-quantile)/quantile)

// Pace is the rule for one server. Its slow end is as slow as full pages with the flat pause, and its fast end is full
// pages without a pause. It is for one goroutine at a time.
type Pace struct {
	flat time.Duration
	size int

	calm     []time.Duration // a ring of the latest
	calmNext int
	mid, top time.Duration // of calm: the median, and the quantile

	count   float64 // keys in a page
	pause   float64 // after it, in nanoseconds
	trips   int
	speedup float64 // by each command that is not too slow
	sent    int     // commands since the last rest

	owed time.Duration // pauses that were too short for a timer
}

// NewPace makes the Pace of a server that starts with pages of size keys and a flat pause after each.
func NewPace(size int, flat time.Duration) *Pace {
	return &Pace{flat: flat, size: size, count: float64(size), pause: float64(flat), trips: 1,
		speedup: attempt}
}

// Observe takes the latency of a small command. calm means that it was sent during a rest.
func (p *Pace) Observe(took time.Duration, calm bool) {
	if calm {
		p.baseline(took)
		return
	}
	if !p.known() {
		return
	}
	weight := 1 + int(min(p.top/everyProbe, maxWeight-1))
	if took > hung*p.top {
		weight = maxWeight
	}
	p.sent += weight
	by := p.speedup
	if float64(took) > tolerance*float64(p.top) {
		by = slowdown
		p.speedup = max(math.Sqrt(p.speedup), speedup)
	}
	p.scale(math.Pow(by, float64(weight)))
}

// Count returns the number of keys to ask for in the next page, which takes that many round trips.
func (p *Pace) Count(trips int) int {
	p.trips = trips
	if p.known() {
		p.count = min(max(p.count, p.fewest()), float64(p.size))
	}
	return int(math.Ceil(p.count))
}

// Pause returns how long to leave the server alone after a page, which may be zero. A rest is a pause in which calm
// latencies are to be measured. The caller reports with Paused how long it took.
func (p *Pace) Pause() (pause time.Duration, rest bool) {
	if !p.known() || p.sent >= restAfter {
		p.sent = 0
		return p.flat, true
	}
	p.owed += time.Duration(p.pause)
	if p.owed < leastPause {
		return 0, false
	}
	return p.owed, false
}

// Paused takes how long a pause was. Timers are late, which the next pauses make up for.
func (p *Pace) Paused(took time.Duration) { p.owed = max(p.owed-took, -p.flat/4) }

func (p *Pace) known() bool { return len(p.calm) >= enough }

func (p *Pace) baseline(took time.Duration) {
	before := p.known()
	if len(p.calm) < remembered {
		p.calm = append(p.calm, took)
	} else {
		p.calm[p.calmNext] = took
		p.calmNext = (p.calmNext + 1) % remembered
	}
	sorted := slices.Sorted(slices.Values(p.calm))
	p.mid, p.top = sorted[len(sorted)/2], sorted[int(quantile*float64(len(sorted)))]
	if !before && p.known() {
		p.count = p.fewest()
		p.pause = p.longest()
	}
}

// scale makes the pace faster or slower. A faster one has shorter pauses, then larger pages; a slower one has smaller
// pages, then longer pauses.
func (p *Pace) scale(by float64) {
	fewest, longest := p.fewest(), p.longest()
	unit := longest / 16 // below it, a pause is none
	switch {
	case by > 1 && p.pause > unit:
		p.pause /= by
	case by > 1:
		p.pause = 0
		p.count = min(p.count*by, float64(p.size))
	case p.count > fewest:
		p.count = max(p.count*by, fewest)
	default:
		p.pause = min(max(p.pause, unit)/by, longest)
	}
}

// fewest returns the smallest number of keys in a page. The round trips of the additional pages take at most a quarter
// of the time that flat pauses would.
func (p *Pace) fewest() float64 {
	least := max(float64(p.size)/smallest, min(worthwhile, float64(p.size)))
	extra := float64(p.flat) / 4 / float64(max(p.mid, 1)) / float64(p.trips)
	return max(least, float64(p.size)/(1+extra))
}

// longest returns the longest pause after a page of the smallest size. With the additional round trips, and the rests,
// a pass takes no longer than with flat pauses.
func (p *Pace) longest() float64 { return 0.7 * float64(p.flat) * p.fewest() / float64(p.size) }
