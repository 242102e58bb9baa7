package silence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// monday is when all worlds begin.
func monday() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }

// world is what a sweep of each minute sees of one lock. How a sweep went is optional.
type world struct {
	lasts  time.Duration
	locked func(at time.Duration) bool
	went   func(at time.Duration) sweep
}

type sweep int

const (
	whole sweep = iota
	partial
	none
)

// events lists when the lock became silent and when that ended, and whether it is silent at last.
func (o world) events() (events []string) {
	w, silent := New(), []Silent(nil)
	for at := time.Duration(0); at < o.lasts; at += time.Minute {
		went := whole
		if o.went != nil {
			went = o.went(at)
		}
		if went == none {
			continue
		}
		now := monday().Add(at)
		w.Begin(now)
		if o.locked(at) {
			w.Saw("lock:a", now)
		}
		var became, ended []Silent
		became, ended, silent = w.End(now, went == whole)
		for _, s := range became {
			events = append(events, fmt.Sprintf("silent %v, usual %v", at, s.Usual))
		}
		for range ended {
			events = append(events, fmt.Sprintf("again %v", at))
		}
	}
	return append(events, fmt.Sprint(len(silent)))
}

// until is a lock that is there up to some time, whenever is true.
func until(end time.Duration, is func(at time.Duration) bool) func(time.Duration) bool {
	return func(at time.Duration) bool { return at < end && is(at) }
}

func always(time.Duration) bool { return true }

func every(d time.Duration) func(time.Duration) bool {
	return func(at time.Duration) bool { return at%d == 0 }
}

func within(from, to time.Duration) func(time.Duration) bool {
	return func(at time.Duration) bool { return at >= from && at < to }
}

func weekday(at time.Duration) bool { return at/day%7 < 5 }

func TestSilence(t *testing.T) {
	const h = time.Hour
	office := func(at time.Duration) bool { return weekday(at) && within(9*h, 17*h)(at%day) }
	there := func(at time.Duration) bool { return at < 40*h && !within(30*h, 33*h)(at) }
	during := func(s sweep) func(time.Duration) sweep {
		return func(at time.Duration) sweep {
			if within(30*h, 33*h)(at) {
				return s
			}
			return whole
		}
	}
	unseen := within(2*day, 2*day+3*h)
	for name, c := range map[string]struct {
		world
		want []string
	}{
		"each minute for two days": {world{3 * day, until(2*day, always), nil},
			[]string{"silent 48h10m0s, usual 1m0s", "1"}},
		"and seen again": {world{3 * day, func(at time.Duration) bool { return !unseen(at) }, nil},
			[]string{"silent 48h10m0s, usual 1m0s", "again 51h0m0s", "0"}},
		"every twenty minutes": {world{3 * day, until(2*day, every(20*time.Minute)), nil},
			[]string{"silent 48h41m0s, usual 20m0s", "1"}},
		"hourly":                  {world{3 * day, until(2*day, every(h)), nil}, []string{"silent 50h1m0s, usual 1h0m0s", "1"}},
		"less often":              {world{3 * day, until(2*day, every(61*time.Minute)), nil}, []string{"0"}},
		"for less than a day":     {world{3 * day, until(23*h, always), nil}, []string{"0"}},
		"forgotten after a while": {world{6 * day, until(2*day, always), nil}, []string{"silent 48h10m0s, usual 1m0s", "0"}},
		"by day":                  {world{15 * day, office, nil}, []string{"0"}},
		"weekly":                  {world{22 * day, within(0, 2*h), nil}, []string{"0"}},
		"the second free weekend": {world{14 * day, weekday, nil},
			[]string{"silent 120h10m0s, usual 1m0s", "again 168h0m0s", "0"}},
		"people stop two hours sooner and start two hours later": {world{15 * day, func(at time.Duration) bool {
			return at < 5*day || at >= 7*day && at < 12*day-2*h || at >= 14*day+2*h
		}, nil}, []string{"silent 120h10m0s, usual 1m0s", "again 168h0m0s", "0"}},
		"a stop in the second week": {world{10 * day, until(9*day, always), nil}, []string{"silent 216h10m0s, usual 1m0s", "1"}},
		"the second free day, after a week without": {world{18 * day, func(at time.Duration) bool {
			return at/day != 9 && at/day != 16
		}, nil}, []string{"silent 216h10m0s, usual 1m0s", "again 240h0m0s", "0"}},
		"a stop into hours that are quiet by habit": {world{13 * day, func(at time.Duration) bool {
			return weekday(at) && at < 12*day-3*h
		}, nil}, []string{"silent 120h10m0s, usual 1m0s", "again 168h0m0s", "silent 285h10m0s, usual 1m0s", "1"}},
		"nobody swept":        {world{50 * h, there, during(none)}, []string{"silent 40h10m0s, usual 1m0s", "1"}},
		"sweeps were partial": {world{50 * h, there, during(partial)}, []string{"silent 40h10m0s, usual 1m0s", "1"}},
		"a pause of long ago is forgotten": {world{5 * day, func(at time.Duration) bool {
			return at < 4*day && !within(26*h, 26*h+29*time.Minute)(at)
		}, nil}, []string{"silent 26h10m0s, usual 1m0s", "again 26h29m0s", "silent 96h10m0s, usual 1m0s", "1"}},
		"a day without sweeps is no history": {world{50 * h, until(30*h, always), func(at time.Duration) sweep {
			if within(h, 25*h)(at) {
				return none
			}
			return whole
		}}, []string{"0"}},
	} {
		if have := c.events(); !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, want %q", name, have, c.want)
		}
	}
}

// TestShortLeases has a lock that one sweep in twelve sees by chance.
func TestShortLeases(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	have := world{10 * day, func(at time.Duration) bool { return random.IntN(12) == 0 }, nil}.events()
	if !slices.Equal(have, []string{"0"}) {
		t.Errorf("%q", have)
	}
}

// TestFull: names that are used once do not take the room for long.
func TestFull(t *testing.T) {
	w := New()
	see := func(key string, at time.Duration) {
		w.Begin(monday().Add(at))
		w.Saw(key, monday().Add(at))
	}
	for i := range Max + 1 {
		see(fmt.Sprint(i), 0)
	}
	if _, there := w.locks[fmt.Sprint(Max)]; there || len(w.locks) != Max {
		t.Errorf("%d locks are remembered", len(w.locks))
	}
	for at := time.Duration(0); at <= time.Hour; at += time.Minute {
		see("0", at)
		w.End(monday().Add(at), true)
	}
	see("0", 61*time.Minute)
	w.End(monday().Add(61*time.Minute), true)
	if len(w.locks) != 1 {
		t.Errorf("%d locks are remembered", len(w.locks))
	}
}

// TestNewcomers: names that are used once, more of them than there is room for, give way to a lock that comes again.
func TestNewcomers(t *testing.T) {
	w := New()
	for at := time.Duration(0); at <= 26*time.Hour; at += 4 * time.Minute {
		now := monday().Add(at)
		w.Begin(now)
		for i := range spare - 1 {
			w.Saw(fmt.Sprint(at, i), now)
		}
		if at > 30*time.Minute && at < 25*time.Hour+10*time.Minute && at%(20*time.Minute) == 0 {
			w.Saw("late", now)
		}
		_, _, silent := w.End(now, true)
		if len(w.locks) > Max || len(silent) > 0 {
			t.Fatalf("after %v: %d locks, %v", at, len(w.locks), silent)
		}
	}
	now := monday().Add(26*time.Hour + 4*time.Minute)
	w.Begin(now)
	if _, _, silent := w.End(now, true); len(silent) != 1 || silent[0].Key != "late" {
		t.Errorf("silent: %v", silent)
	}
}

// TestFullKeepsTheSilent: a silent lock stays in a full watch, although a time without sweeps left it less than a day.
func TestFullKeepsTheSilent(t *testing.T) {
	w, now := New(), time.Unix(1e9, 0)
	ago := now.Add(-longest / 2)
	w.locks["silent"] = &seen{first: ago, last: ago, turned: ago, reported: true}
	for i := range Max - 1 {
		w.locks[fmt.Sprint(i)] = &seen{first: ago, last: ago, turned: ago}
	}
	w.began = now.Add(-time.Minute)
	w.Begin(now)
	if _, _, all := w.End(now, true); len(all) != 1 || all[0].Key != "silent" || len(w.locks) != Max-spare {
		t.Errorf("%d locks, silent: %v", len(w.locks), all)
	}
}
