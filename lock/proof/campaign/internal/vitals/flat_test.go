//go:build linux

package vitals

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// run makes the samples of a process: one every ten seconds of an hour, of what value says.
func run(name string, value func(minute float64) map[Quantity]float64) (all []Sample) {
	for i := range 360 {
		at := time.Duration(i) * 10 * time.Second
		all = append(all, Sample{T: int64(at), Group: "clients", Name: name, PID: 1, Values: value(at.Minutes())})
	}
	return all
}

func of(q Quantity, v float64) map[Quantity]float64 { return map[Quantity]float64{q: v} }

// TestALeakIsFound plants one of each quantity, from slow to fast, into noise.
func TestALeakIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for what, value := range map[string]func(minute float64) map[Quantity]float64{
		"a goroutine a minute": func(m float64) map[Quantity]float64 {
			return of(Goroutines, 40+1.5*m+8*random.Float64())
		},
		"a connection a minute":  func(m float64) map[Quantity]float64 { return of(Connections, 20+1.5*m) },
		"a descriptor a minute":  func(m float64) map[Quantity]float64 { return of(Descriptors, 30+1.5*m) },
		"a MiB of heap a minute": func(m float64) map[Quantity]float64 { return of(Heap, (20+m)*(1<<20)) },
		"two MiB of RSS a minute": func(m float64) map[Quantity]float64 {
			return of(RSS, (50+2*m+10*random.Float64())*(1<<20))
		},
		"one step, late": func(m float64) map[Quantity]float64 {
			if m > 45 {
				return of(Goroutines, 80)
			}
			return of(Goroutines, 40)
		},
	} {
		if j := Judge(run("w1", value)); len(j.Grown()) != 1 {
			t.Errorf("%s: found %v of %v", what, j.Grown(), j.Trends)
		}
	}
}

// TestWhatIsFlat has warm-up, noise, waves and an outage, which are no leaks.
func TestWhatIsFlat(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for what, value := range map[string]func(minute float64) map[Quantity]float64{
		"warm-up":       func(m float64) map[Quantity]float64 { return of(Goroutines, min(40+4*m, 100)) },
		"noise":         func(float64) map[Quantity]float64 { return of(Goroutines, 40+30*random.NormFloat64()) },
		"saw teeth":     func(m float64) map[Quantity]float64 { return of(Heap, (20+float64(int(m)%7))*(1<<20)) },
		"it shrinks":    func(m float64) map[Quantity]float64 { return of(RSS, (200-2*m)*(1<<20)) },
		"an outage":     func(m float64) map[Quantity]float64 { return of(Connections, 20+400*float64(int(m)/55)) },
		"within a part": func(m float64) map[Quantity]float64 { return of(Descriptors, 1000+m) },
	} {
		if j := Judge(run("w1", value)); len(j.Grown()) != 0 || len(j.Trends) != 1 {
			t.Errorf("%s: found %v of %v", what, j.Grown(), j.Trends)
		}
	}
}

// TestASmallLeakOfManyIsFound: ten goroutines in an hour hide in one process, and not in a hundred of them.
func TestASmallLeakOfManyIsFound(t *testing.T) {
	var leaking, flat []Sample
	for i := range 100 {
		name := fmt.Sprint("w", i)
		leaking = append(leaking, run(name, func(m float64) map[Quantity]float64 { return of(Goroutines, 40+m/6) })...)
		flat = append(flat, run(name, func(float64) map[Quantity]float64 { return of(Goroutines, 40) })...)
	}
	if grown := Judge(leaking).Grown(); len(grown) != 1 || grown[0].Name != "" || grown[0].Processes != 100 {
		t.Errorf("found %v", grown)
	}
	if grown := Judge(flat).Grown(); len(grown) != 0 {
		t.Errorf("found %v", grown)
	}
}

// TestAShortLifeIsNotJudged: it says nothing, and is named.
func TestAShortLifeIsNotJudged(t *testing.T) {
	value := func(m float64) map[Quantity]float64 { return of(Goroutines, 40+100*m) }
	whole := run("w1", func(float64) map[Quantity]float64 { return of(Goroutines, 40) })
	j := Judge(append(whole, run("w2", value)[:170]...))
	if len(j.Trends) != 1 || len(j.Short) != 1 || j.Short[0] != "w2" {
		t.Errorf("judged %v, too short %v", j.Trends, j.Short)
	}
	if j := Judge(nil); len(j.Trends) != 0 {
		t.Errorf("judged %v", j.Trends)
	}
}
