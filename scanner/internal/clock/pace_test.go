package clock

import (
	"testing"
	"time"
)

const keys = 1_000_000

// TestPace reads simulated servers. All of it is computed, so the ratios are the same on every machine.
func TestPace(t *testing.T) {
	for name, c := range map[string]struct {
		server
		faster float64 // than with flat pauses, at least
		slower float64 // what other clients' p99 becomes, at most
	}{
		"on this machine": {server{trip: 60 * us, page: 25 * us, key: 2 * us, others: jitter(40 * us)}, 3, 1.35},
		"idle":            {server{trip: 300 * us, page: 5 * us, key: 100, others: jitter(20 * us)}, 10, 1.3},
		"in the network":  {server{trip: 300 * us, page: 25 * us, key: 2 * us, others: jitter(40 * us)}, 3, 1.35},
		"loaded":          {server{trip: 300 * us, page: 25 * us, key: 2 * us, others: jitter(2 * ms)}, 2, 1.3},
		"far away":        {server{trip: 50 * ms, page: 25 * us, key: 2 * us, others: jitter(500 * us)}, 1.15, 1.05},
		"slow":            {server{trip: 60 * us, page: 200 * us, key: 40 * us, others: jitter(20 * us)}, 0.9, 20},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := c.read(nil, keys), c.read(NewPace(size, flat), keys)
			faster, slower := float64(before.took)/float64(now.took), now.slowdown(0.99)
			t.Logf("%v, %.1f times as fast as with flat pauses; p99 x %.2f, with flat pauses x %.2f", now.took, faster, slower,
				before.slowdown(0.99))
			if faster < c.faster || slower > c.slower {
				t.Errorf("want %.2f times as fast, and p99 x %.2f", c.faster, c.slower)
			}
			for _, one := range now.pages {
				if one.count < worthwhile || one.count > size || one.pause > flat || one.pause > 0 && one.pause < leastPause {
					t.Fatalf("%d keys, then a pause of %v", one.count, one.pause)
				}
			}
		})
	}
}

// TestServerBecomesSlow makes pages cost ten times as much for five seconds.
func TestServerBecomesSlow(t *testing.T) {
	const begins, ends = 5 * time.Second, 10 * time.Second
	s := server{trip: 300 * us, page: 25 * us, key: us, others: jitter(40 * us),
		slower: func(at time.Duration) float64 {
			if at > begins && at < ends {
				return 10
			}
			return 1
		}}
	o := s.read(NewPace(size, flat), 10*keys)
	fast, slow, again := o.speed(begins-2*time.Second, begins), o.speed(ends-2*time.Second, ends),
		o.speed(ends+3*time.Second, ends+5*time.Second)
	if slow > fast/4 || again < fast*2/3 {
		t.Errorf("%.0f keys a second, while the server is slow %.0f, then %.0f", fast, slow, again)
	}
}

// TestServerIsLoaded by others from some time on: it is compared with itself, so the sweep goes on.
func TestServerIsLoaded(t *testing.T) {
	idle, loaded := jitter(40*us), jitter(2*ms)
	s := server{trip: 300 * us, page: 25 * us, key: us, others: func(at time.Duration) time.Duration {
		if at > 5*time.Second {
			return loaded(at)
		}
		return idle(at)
	}}
	o := s.read(NewPace(size, flat), 10*keys)
	fast, at := o.speed(3*time.Second, 5*time.Second), o.speed(5500*ms, 6500*ms)
	later := o.speed(15*time.Second, 20*time.Second)
	if at > fast/4 || later < 2*at {
		t.Errorf("%.0f keys a second, at first under load %.0f, then %.0f", fast, at, later)
	}
}

// TestServerHangs for two seconds.
func TestServerHangs(t *testing.T) {
	s := server{trip: 300 * us, page: 25 * us, key: us, others: jitter(40 * us), hangs: 5 * time.Second}
	o := s.read(NewPace(size, flat), 3*keys)
	before, after := o.speed(4*time.Second, 5*time.Second), o.speed(7*time.Second, 7100*ms)
	later := o.speed(9*time.Second, 10*time.Second)
	if after > before*3/4 || later < before*2/3 {
		t.Errorf("%.0f keys a second, %.0f just after the server hung, then %.0f", before, after, later)
	}
}

// TestFlatUntilTheBaselineIsKnown, which commands beside pages say nothing of.
func TestFlatUntilTheBaselineIsKnown(t *testing.T) {
	p := NewPace(size, flat)
	for i := range enough {
		p.Observe(0, false)
		if pause, rest := p.Pause(); p.Count(1) != size || pause != flat || !rest {
			t.Fatalf("after %d calm latencies: %d keys, then %v", i, p.Count(1), pause)
		}
		p.Paused(flat)
		p.Observe(ms, true)
	}
	if got := p.Count(1); got == size {
		t.Errorf("%d keys in the first page of an adapted pace", got)
	}
}

// TestSmallPages of a caller are not made smaller than is worth it.
func TestSmallPages(t *testing.T) {
	p := NewPace(20, flat)
	for range enough {
		p.Observe(0, true) // a latency of zero divides nothing
	}
	for range 1000 {
		p.Observe(time.Second, false)
	}
	pause, _ := p.Pause()
	if got := p.Count(4); got != 20 || pause > flat {
		t.Errorf("%d keys, then %v", got, pause)
	}
}
