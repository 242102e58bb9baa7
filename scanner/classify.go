package scanner

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/value"
)

// classify says what is wrong with a lock that is held since the given time; zero
// if that is unknown. Orphans are found elsewhere: they take more than one node.
func (c *config) classify(v *keyreader.Value, since, now time.Time) []Class {
	var found []Class
	add := func(class Class, is bool) {
		if is && c.checks[class] {
			found = append(found, class)
		}
	}
	foreign := value.Foreign(v)
	add(ForeignType, foreign)
	if foreign && c.checks[ForeignType] {
		return found
	}
	p := c.policyOf(v.Key)
	add(NoTTL, leaked(&p, v))
	add(LongTTL, v.TTL > p.MaxTTL)
	add(HeldTooLong, limitsHold(&p, v) && !foreign && !since.IsZero() && now.Sub(since) > p.MaxHold)
	return found
}

func leaked(p *Policy, v *keyreader.Value) bool { return v.TTL == keyreader.Never && !p.NoTTLAllowed }

// limitsHold says whether it matters for how long the lock is held: one that is a leak
// need not be held for long.
func limitsHold(p *Policy, v *keyreader.Value) bool { return !leaked(p, v) && p.MaxHold > 0 }

// still says whether the value found at a second look is wrong in the same way.
// Whether it is an orphan still, its nodes must tell.
func (c *config) still(f *ledger.Entry, v *keyreader.Value) bool {
	if v.Gone() || !f.Same(v.Identity()) || c.excludes(f.Key) >= 0 {
		return false
	}
	p := c.policyOf(f.Key)
	switch f.Class {
	case NoTTL:
		return leaked(&p, v)
	case LongTTL:
		return v.TTL > p.MaxTTL
	case HeldTooLong:
		return limitsHold(&p, v)
	}
	return true
}

// evidence explains a finding in numbers. It shows nothing of the value.
func (c *config) evidence(class Class, v *keyreader.Value, since, now time.Time) string {
	p := c.policyOf(v.Key)
	switch class {
	case NoTTL:
		return "its TTL is -1: nothing but its holder or a person will ever remove it"
	case LongTTL:
		return fmt.Sprintf("its TTL is %v, more than %v", clock.Round(v.TTL), p.MaxTTL) + clause(&p)
	case HeldTooLong:
		return fmt.Sprintf("one holder has it for %v or more, longer than %v", clock.Round(now.Sub(since)), p.MaxHold) + clause(&p) + ending(v)
	case ForeignType:
		return foreignEvidence(v)
	}
	return ""
}

// ending says what becomes of a lock if nobody renews it.
func ending(v *keyreader.Value) string {
	if v.TTL == keyreader.Never {
		return "; it never expires"
	}
	return fmt.Sprintf("; it ends in %v unless it is renewed", clock.Round(v.TTL))
}

func foreignEvidence(v *keyreader.Value) string {
	expiry := "never expires"
	if v.TTL != keyreader.Never {
		expiry = "expires in " + clock.Round(v.TTL).String()
	}
	if v.Type == keyreader.Hash {
		return fmt.Sprintf("it is a hash of %d fields that are not those of a Redisson lock, and %s", v.Size, expiry)
	}
	return fmt.Sprintf("it is a %s, which no lock is, and %s", v.Type, expiry)
}
