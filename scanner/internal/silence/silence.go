// Package silence notices locks that sweeps saw regularly and do not see any more.
package silence

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of what is judged and remembered.
const (
	// Max is how many locks are remembered. An entry takes some 150 bytes and its key.
	Max = 10_000
	// spare is how much of it sweeps leave for locks that they have not seen before.
	spare = Max / 10
	// longest is the longest usual pause. A lock that rests for longer is not seen in each hour.
	longest = time.Hour
	// least is the shortest silence: a sweep is a sample, and may miss short leases several times.
	least = 10 * time.Minute
	// kept is how long a regular lock is remembered after it was last seen: over a weekend.
	kept = 72 * time.Hour
	// jitter is how much earlier or later people stop and start than a week before.
	jitter = 2
	// blind is the longest time between two sweeps that counts.
	blind = 5 * time.Minute

	day  = 24 * time.Hour
	week = 7 * 24 // hours
)

// Silent is a lock that is not seen any more.
type Silent struct {
	Key   string
	First time.Time     // when it was first seen, later by the time in which nobody swept
	Last  time.Time     // when it was last seen
	Usual time.Duration // the longest pause of the one or two days before
}

// Watch remembers when locks were seen. It is safe for concurrent use.
type Watch struct {
	mu      sync.Mutex
	locks   map[string]*seen
	began   time.Time // when the last sweep did
	partial bool      // it did not read everything
	missed  bool      // the present one does not
}

// New makes an empty Watch.
func New() *Watch { return &Watch{locks: make(map[string]*seen)} }

// seen is what is known of one lock, in a fixed size.
type seen struct {
	first, last time.Time
	turned      time.Time           // when pause became before
	pause       time.Duration       // the longest since then
	before      time.Duration       // the longest of the day before that
	hours       [week/64 + 1]uint64 // of the week, up to last: 1 if it was seen then
	reported    bool                // as silent
}

// Saw notes that a sweep has seen a lock. A new lock finds no room while the watch is full, until the sweep ends.
func (w *Watch) Saw(key string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.locks[key]
	if s == nil {
		if len(w.locks) >= Max {
			return
		}
		s = &seen{first: now, last: now, turned: now}
		w.locks[strings.Clone(key)] = s
	}
	for h := hourOf(s.last) + 1; h < hourOf(now); h++ {
		s.mark(h, false)
	}
	s.pause = max(s.pause, now.Sub(s.last))
	if now.Sub(s.turned) >= day {
		s.before, s.pause, s.turned = s.pause, 0, now
	}
	s.last = now
	s.mark(hourOf(now), true)
}

// Begin notes that a sweep begins. The time since the last one counts for nothing if that did not read everything, or if
// it was long ago: nobody knows which locks there were.
func (w *Watch) Begin(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gap := now.Sub(w.began)
	if !w.began.IsZero() && (w.partial || gap > blind) {
		for _, s := range w.locks {
			s.first, s.last, s.turned = s.first.Add(gap), earlier(s.last.Add(gap), now), s.turned.Add(gap)
		}
	}
	w.began, w.missed = now, false
}

// Missed notes that the present sweep does not read everything, whatever End says.
func (w *Watch) Missed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.missed = true
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// End returns, after a sweep, which locks have become silent and which have ended their silence, by key, and all that
// are silent, the latest first. A sweep that did not read everything judges nothing.
func (w *Watch) End(now time.Time, whole bool) (became, ended, all []Silent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.partial = !whole || w.missed; w.partial {
		return nil, nil, w.all()
	}
	for key, s := range w.locks {
		was := s.reported
		is := s.silent(now) || was && s.last.Before(w.began) // what is silent stays so until it is seen
		s.reported = is
		switch {
		case is && !was:
			became = append(became, s.of(key))
		case !is && was:
			ended = append(ended, s.of(key))
		}
		if now.Sub(s.last) > kept || now.Sub(s.last) > longest && !s.regular() {
			delete(w.locks, key)
		}
	}
	w.makeRoom()
	for _, list := range [][]Silent{became, ended} {
		slices.SortFunc(list, func(a, b Silent) int { return strings.Compare(a.Key, b.Key) })
	}
	return became, ended, w.all()
}

// makeRoom forgets locks that were not seen by this sweep, until the spare room is free: those first that were there for
// the shortest time, such as names that are used once. A regular lock stays.
func (w *Watch) makeRoom() {
	over := len(w.locks) - (Max - spare)
	if over <= 0 {
		return
	}
	var all []Silent
	for key, s := range w.locks {
		if s.last.Before(w.began) && !s.regular() && !s.reported {
			all = append(all, s.of(key))
		}
	}
	slices.SortFunc(all, func(a, b Silent) int {
		return cmp.Or(cmp.Compare(a.Last.Sub(a.First), b.Last.Sub(b.First)), a.Last.Compare(b.Last))
	})
	for _, s := range all[:min(over, len(all))] {
		delete(w.locks, s.Key)
	}
}

func (w *Watch) all() (all []Silent) {
	for key, s := range w.locks {
		if s.reported {
			all = append(all, s.of(key))
		}
	}
	slices.SortFunc(all, func(a, b Silent) int { return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.Key, b.Key)) })
	return all
}

func (s *seen) of(key string) Silent {
	return Silent{Key: key, First: s.first, Last: s.last, Usual: s.usual()}
}

func (s *seen) usual() time.Duration { return max(s.pause, s.before) }

// regular reports whether the lock was seen in each hour of a day or more.
func (s *seen) regular() bool { return s.last.Sub(s.first) >= day && s.usual() <= longest }

// silent compares the present pause with the usual one, and with the same hours of the week before.
func (s *seen) silent(now time.Time) bool {
	return s.regular() && now.Sub(s.last) > max(3*s.usual(), least) && !s.quietBefore(now)
}

// quietBefore reports whether the lock was not seen around this hour of the week before.
func (s *seen) quietBefore(now time.Time) bool {
	h := hourOf(now)
	for at := h - jitter; at <= h+jitter; at++ {
		if before := at - week; before > hourOf(s.first) && !s.marked(at) {
			return true
		}
	}
	return false
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

func (s *seen) mark(hour int64, is bool) {
	i := hour % week
	if s.hours[i/64] &^= 1 << (i % 64); is {
		s.hours[i/64] |= 1 << (i % 64)
	}
}

func (s *seen) marked(hour int64) bool {
	i := hour % week
	return s.hours[i/64]>>(i%64)&1 == 1
}
