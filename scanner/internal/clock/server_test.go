package clock

import (
	"math/rand/v2"
	"slices"
	"time"
)

const (
	us   = time.Microsecond
	ms   = time.Millisecond
	size = 500
	flat = 10 * ms
)

// server is a simulated one.
type server struct {
	trip   time.Duration                          // of the network
	page   time.Duration                          // that any page takes
	key    time.Duration                          // that each key of a page takes
	others func(at time.Duration) time.Duration   // how long a command waits for other clients' commands
	slower func(at time.Duration) (times float64) // how much slower pages are then; nil: never
	hangs  time.Duration                          // when it does so for two seconds; zero: never
}

// pass is what a pass of pages did.
type pass struct {
	took       time.Duration
	idle, felt []time.Duration // latencies of a client, without the pass and beside it
	pages      []page
}

type page struct {
	at, pause time.Duration
	count     int
}

// slowdown is how many times slower a quantile of the client's latencies became.
func (p *pass) slowdown(q float64) float64 { return float64(at(p.felt, q)) / float64(at(p.idle, q)) }

// speed is the number of keys a second in a part of the time.
func (p *pass) speed(from, to time.Duration) float64 {
	keys := 0
	for _, one := range p.pages {
		if one.at >= from && one.at < to {
			keys += one.count
		}
	}
	return float64(keys) / (to - from).Seconds()
}

func at(all []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[int(q*float64(len(sorted)))]
}

// read reads so many keys of the server at the pace, or with flat pauses if p is nil.
func (s *server) read(p *Pace, keys int) (o pass) {
	random := rand.New(rand.NewPCG(1, 2))
	now, probe := time.Duration(0), time.Duration(0)
	for keys > 0 {
		count, pause, rest := size, flat, false
		if p != nil {
			count = p.Count(1)
		}
		keys -= count
		began, busy := now, s.busy(now, count)
		now += s.trip + s.others(now) + busy
		read := now
		if p != nil {
			if pause, rest = p.Pause(); pause > 0 {
				p.Paused(pause)
			}
		}
		now += pause
		o.pages = append(o.pages, page{began, pause, count})
		for probe < now { // those sent from the start of the page to the end of the pause
			idle := s.trip + s.others(probe)
			took := idle + max(0, began+busy-max(probe, began))
			o.idle, o.felt = append(o.idle, idle), append(o.felt, took)
			resting := rest && probe >= read
			if p != nil && (!resting || probe-read >= settle) {
				p.Observe(took, resting)
			}
			probe += took + everyProbe/2 + time.Duration(random.Int64N(int64(everyProbe)))
		}
	}
	o.took = now
	return o
}

func (s *server) busy(at time.Duration, count int) time.Duration {
	busy := s.page + time.Duration(count)*s.key
	if s.slower != nil {
		busy = time.Duration(float64(busy) * s.slower(at))
	}
	if s.hangs > 0 && at > s.hangs {
		busy, s.hangs = 2*time.Second, 0
	}
	return busy
}

// jitter is a wait of d on average, with a tail.
func jitter(d time.Duration) func(time.Duration) time.Duration {
	random := rand.New(rand.NewPCG(3, 4))
	return func(time.Duration) time.Duration { return time.Duration(random.ExpFloat64() * float64(d)) }
}
