package profile

import (
	"maps"
	"time"
)

// Profile is what a Recorder has added up until one moment, or between two.
type Profile struct {
	began, ended time.Time
	waiters      map[waiterKey]sample // nil in a profile by holder
	holders      map[holderKey]sample
}

// ByWaiter returns the waits of calls that have returned, and of those under way.
func (r *Recorder) ByWaiter(now time.Time, underWay []Wait) *Profile {
	r.mu.Lock()
	p := &Profile{began: r.began, ended: now, waiters: r.waiters.copy()}
	r.mu.Unlock()
	for _, w := range underWay {
		if w.Took < r.rate {
			continue // it may turn out not to be sampled
		}
		w.rows(func(k waiterKey, s sample) {
			sum := p.waiters[k]
			sum.add(s)
			p.waiters[k] = sum
		})
	}
	return p
}

// ByHolder returns the time that each holder has made others wait.
func (r *Recorder) ByHolder(now time.Time) *Profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Profile{began: r.began, ended: now, holders: r.holders.copy()}
}

// Since returns what was added after an earlier Profile of the same kind. A wait under way counts with the time that it
// took in between.
func (p *Profile) Since(earlier *Profile) *Profile {
	return &Profile{
		began: earlier.ended, ended: p.ended,
		waiters: minus(p.waiters, earlier.waiters), holders: minus(p.holders, earlier.holders),
	}
}

// minus leaves out rows without a difference, and those that are smaller now, because they were added to others.
func minus[K comparable](now, earlier map[K]sample) map[K]sample {
	left := maps.Clone(now)
	for k, before := range earlier {
		s, ok := left[k]
		if !ok {
			continue
		}
		s = sample{max(s.count-before.count, 0), max(s.took-before.took, 0)}
		if left[k] = s; s == (sample{}) {
			delete(left, k)
		}
	}
	return left
}
