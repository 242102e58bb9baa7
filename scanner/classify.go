package scanner

import (
	"fmt"
	"time"
)

// unmeasured is the size of a hash whose fields could not be read because the
// server does not say how large it is.
const unmeasured = -1

// foreign says whether a key is no lock of any format known: locks are strings, or
// small hashes as Redisson writes them.
func (v *value) foreign() bool {
	switch v.kind {
	case kindString:
		return false
	case kindHash:
		if v.size == unmeasured {
			return false
		}
		_, ok := redissonHolder(v.fields)
		return !ok
	}
	return true
}

// classify says what is wrong with a lock that is held since the given time; zero
// if that is unknown. Orphans are found elsewhere: they take more than one node.
func (c *config) classify(v *value, since, now time.Time) []Class {
	var found []Class
	add := func(class Class, is bool) {
		if is && c.checks[class] {
			found = append(found, class)
		}
	}
	foreign := v.foreign()
	add(ForeignType, foreign)
	if foreign && c.checks[ForeignType] {
		return found
	}
	add(NoTTL, v.ttl == never)
	add(LongTTL, v.ttl > c.maxTTL)
	// A lock that never expires need not be held for long to be a leak.
	add(HeldTooLong, v.ttl != never && !foreign && !since.IsZero() && now.Sub(since) > c.maxHold)
	return found
}

// still says whether the value found at a second look is wrong in the same way.
// Whether it is an orphan still, its nodes must tell.
func (c *config) still(f *Finding, v *value) bool {
	if v.kind == kindNone || v.identity() != f.identity {
		return false
	}
	switch f.Class {
	case NoTTL:
		return v.ttl == never
	case LongTTL:
		return v.ttl > c.maxTTL
	case HeldTooLong:
		return v.ttl != never
	}
	return true
}

// evidence explains a finding in numbers. It shows nothing of the value.
func (c *config) evidence(class Class, v *value, since, now time.Time) string {
	switch class {
	case NoTTL:
		return "its TTL is -1: nothing but its holder or a person will ever remove it"
	case LongTTL:
		return fmt.Sprintf("its TTL is %v, more than %v", round(v.ttl), c.maxTTL)
	case HeldTooLong:
		return fmt.Sprintf("one holder has it for %v or more, longer than %v; it ends in %v unless it is renewed",
			round(now.Sub(since)), c.maxHold, round(v.ttl))
	case ForeignType:
		return foreignEvidence(v)
	}
	return ""
}

func foreignEvidence(v *value) string {
	expiry := "never expires"
	if v.ttl != never {
		expiry = "expires in " + round(v.ttl).String()
	}
	if v.kind == kindHash {
		return fmt.Sprintf("it is a hash of %d fields that are not those of a Redisson lock, and %s", v.size, expiry)
	}
	return fmt.Sprintf("it is a %s, which no lock is, and %s", v.kind, expiry)
}

// round keeps durations readable.
func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}
