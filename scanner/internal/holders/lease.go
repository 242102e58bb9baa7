package holders

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/clock"
)

// Look is one look at a lock.
type Look struct {
	Node, Key, Identity string
	Distinct            Distinction
	At                  time.Time
	TTL                 time.Duration
	Count               int           // re-entries
	Says                bool          // since when it is held
	Again               bool          // after the round that has seen the lock
	Worth               time.Duration // no room is given to an indistinct holder that cannot get this old
}

// Observed is what the watch knows about the holder of a lock.
type Observed struct {
	First time.Time // when this holder was first seen; zero: it is not proved to be one
	Whole time.Time // when all locks were seen and this was none of them; zero: unknown
	Looks int       // sweeps that saw this holder; between two of them another one may have had it if a value is reused
	Full  bool      // this one, or another one for it, is not remembered
}

// lease is what is known of one lock. Digests identify it, so that its size does not depend on names. Two of 10,000
// keys share a digest once in 10^11 times.
type lease struct {
	identity uint64
	first    time.Time // of this holder
	whole    time.Time // the watch's whole then
	last     time.Time
	expiry   time.Time     // when the lock was to end, when it was last renewed
	longest  time.Duration // that its TTL was
	count    int           // re-entries
	looks    int           // rounds in which it was seen
	fresh    bool
	says     bool
	node     int // its round's place; adrift: that node is gone
	round    uint32
}

// adrift marks locks of a node that no longer exists. Another node may have them.
const adrift = -1

const (
	// expirySlack is how far the end of a lock may seem to move, because a PTTL is some time old when it is read.
	expirySlack = time.Second
	// A holder renews its lock when at most this much of the TTL is left; Redisson and Spring do at two thirds. An
	// earlier write means that somebody acquired the lock anew.
	renewalBelow = 0.75
	// A holder renews its lock before less than this much of the TTL is left.
	renewalAbove = 0.25
	// leastLooks is how many looks prove a holder whose client always writes the same value.
	leastLooks = 3
)

// see records a look at the entry's lease.
func (e *lease) see(s *Look, place int, round uint32) {
	if e.round != round && !s.Again {
		e.looks, e.round = e.looks+1, round
	}
	if s.Distinct == PerClient && !e.unmoved(s) {
		e.expiry = s.At.Add(s.TTL)
	}
	e.node, e.last, e.count, e.longest = place, s.At, s.Count, max(e.longest, s.TTL)
}

// unmoved reports whether the lock still ends when it was to end, so that nobody has written it since.
func (e *lease) unmoved(s *Look) bool { return s.At.Add(s.TTL).Sub(e.expiry).Abs() <= expirySlack }

// continues reports whether the look is proved to be at the entry's lease, or for a client's value at least not
// proved to be at another. shared: other keys have the same value.
func (e *lease) continues(id uint64, s *Look, shared bool) bool {
	switch {
	case e.identity != id || s.Count < e.count:
		return false
	case s.Distinct == PerLease && !shared || e.unmoved(s):
		return true
	case s.Distinct != PerClient:
		return false
	}
	longest := float64(max(e.longest, s.TTL))
	late, early := e.expiry.Sub(e.last), e.expiry.Sub(s.At)
	return s.At.Add(s.TTL).After(e.expiry) && float64(late) >= renewalAbove*longest &&
		float64(early) <= renewalBelow*longest
}

// clockSlack is how far a holder's clock may be off before its time is ignored.
const clockSlack = 30 * time.Second

// Believe compares the time that a value claims with what was seen. If they contradict each other, what was seen
// counts.
func Believe(said time.Time, seen *Observed, now time.Time) (since time.Time, doubt string) {
	const text = "; the holder's clock is %v or more %s, so this counts from when the scanner first saw it"
	switch {
	case said.After(now.Add(clockSlack)):
		return seen.First, fmt.Sprintf(text, clock.Round(said.Sub(now)), "ahead")
	case !seen.First.IsZero() && said.After(seen.First.Add(clockSlack)):
		return seen.First, fmt.Sprintf(text, clock.Round(said.Sub(seen.First)), "ahead")
	case !seen.Whole.IsZero() && said.Before(seen.Whole.Add(-clockSlack)):
		return seen.First, fmt.Sprintf(text, clock.Round(seen.Whole.Sub(said)), "behind")
	}
	return said, ""
}
