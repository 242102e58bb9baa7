package scanner

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// foreign says whether a key is no lock of any format known: locks are strings, or
// small hashes as Redisson writes them.
func foreign(v *keyreader.Value) bool {
	switch v.Type {
	case keyreader.String:
		return false
	case keyreader.Hash:
		if v.Size == keyreader.Unmeasured {
			return false
		}
		_, ok := redissonHold(v.Fields)
		return !ok
	}
	return true
}

// classify says what is wrong with a lock that is held since the given time; zero
// if that is unknown. Orphans are found elsewhere: they take more than one node.
func (c *config) classify(v *keyreader.Value, since, now time.Time) []Class {
	var found []Class
	add := func(class Class, is bool) {
		if is && c.checks[class] {
			found = append(found, class)
		}
	}
	foreign := foreign(v)
	add(ForeignType, foreign)
	if foreign && c.checks[ForeignType] {
		return found
	}
	add(NoTTL, v.TTL == keyreader.Never)
	add(LongTTL, v.TTL > c.ttlLimit)
	// A lock that never expires need not be held for long to be a leak.
	add(HeldTooLong, v.TTL != keyreader.Never && !foreign && !since.IsZero() && now.Sub(since) > c.holdLimit)
	return found
}

// still says whether the value found at a second look is wrong in the same way.
// Whether it is an orphan still, its nodes must tell.
func (c *config) still(f *Finding, v *keyreader.Value) bool {
	if v.Gone() || !f.same(v.Identity()) {
		return false
	}
	switch f.Class {
	case NoTTL:
		return v.TTL == keyreader.Never
	case LongTTL:
		return v.TTL > c.ttlLimit
	case HeldTooLong:
		return v.TTL != keyreader.Never
	}
	return true
}

// evidence explains a finding in numbers. It shows nothing of the value.
func (c *config) evidence(class Class, v *keyreader.Value, since, now time.Time) string {
	switch class {
	case NoTTL:
		return "its TTL is -1: nothing but its holder or a person will ever remove it"
	case LongTTL:
		return fmt.Sprintf("its TTL is %v, more than %v", round(v.TTL), c.ttlLimit)
	case HeldTooLong:
		return fmt.Sprintf("one holder has it for %v or more, longer than %v; it ends in %v unless it is renewed",
			round(now.Sub(since)), c.holdLimit, round(v.TTL))
	case ForeignType:
		return foreignEvidence(v)
	}
	return ""
}

func foreignEvidence(v *keyreader.Value) string {
	expiry := "never expires"
	if v.TTL != keyreader.Never {
		expiry = "expires in " + round(v.TTL).String()
	}
	if v.Type == keyreader.Hash {
		return fmt.Sprintf("it is a hash of %d fields that are not those of a Redisson lock, and %s", v.Size, expiry)
	}
	return fmt.Sprintf("it is a %s, which no lock is, and %s", v.Type, expiry)
}

// round keeps durations readable.
func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}
