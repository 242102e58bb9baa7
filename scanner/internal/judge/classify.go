package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/report"
)

// Classify returns what is wrong with a lock that its holder has had since the given time; zero if that is unknown.
// Package orphan finds orphans, which takes more than one node.
func (r *Rules) Classify(v *keyreader.Value, h *inspect.Hold, since, now time.Time) []inspect.Class {
	var found []inspect.Class
	add := func(class inspect.Class, is bool) {
		if is && r.Checks[class] {
			found = append(found, class)
		}
	}
	foreign := holders.Foreign(v)
	add(inspect.ForeignType, foreign)
	if foreign && r.Checks[inspect.ForeignType] {
		return found
	}
	p := r.PolicyOf(v.Key)
	add(inspect.NoTTL, leaked(&p, v))
	add(inspect.LongTTL, v.TTL > p.MaxTTL)
	if limit := HoldLimit(&p, v, h); limit > 0 && !foreign && !since.IsZero() {
		add(inspect.HeldTooLong, now.Sub(since) > limit)
	}
	return found
}

func leaked(p *report.Policy, v *keyreader.Value) bool {
	return v.TTL == keyreader.Never && !p.NoTTLAllowed
}

// HoldLimit is how long the holder may have the lock; zero: for as long as it wants. A lock that is a leak already has
// no limit. A leader has that of terms.
func HoldLimit(p *report.Policy, v *keyreader.Value, h *inspect.Hold) time.Duration {
	switch {
	case leaked(p, v):
		return 0
	case h.Kind == lock.KindElection:
		return p.MaxTerm
	}
	return p.MaxHold
}

// Still reports whether the value at a second look is wrong in the same way. Only the nodes can tell whether it is
// still an orphan.
func (r *Rules) Still(f *registry.Entry, v *keyreader.Value, now time.Time) bool {
	if v.Gone() || !f.Same(v.Identity()) || r.Excludes(f.Key, now) >= 0 {
		return false
	}
	p, holder := r.PolicyOf(f.Key), holders.Holder(v)
	switch f.Class {
	case inspect.NoTTL:
		return leaked(&p, v)
	case inspect.LongTTL:
		return v.TTL > p.MaxTTL
	case inspect.HeldTooLong:
		return HoldLimit(&p, v, &holder) > 0
	}
	return true
}

// Evidence explains a finding in numbers. It shows nothing of the value. looks is how many sweeps saw a holder that may
// have released the lock in between; zero if it is known to have kept it.
func (r *Rules) Evidence(class inspect.Class, v *keyreader.Value, since time.Time, looks int, now time.Time) string {
	p := r.PolicyOf(v.Key)
	switch class {
	case inspect.NoTTL:
		return stays(v, now)
	case inspect.LongTTL:
		return fmt.Sprintf("its TTL is %v, longer than the limit of %v", clock.Round(v.TTL), p.MaxTTL) + clause(&p)
	case inspect.HeldTooLong:
		holder := holders.Holder(v)
		return sameHolder(v, &holder, now.Sub(since), looks) + fmt.Sprintf(" for %v or more, longer than the limit of %v",
			clock.Round(now.Sub(since)), HoldLimit(&p, v, &holder)) + clause(&p) + ending(v)
	case inspect.ForeignType:
		return foreignEvidence(v)
	}
	return ""
}

// sameHolder says who has had a lock for that long, and how that is known.
func sameHolder(v *keyreader.Value, h *inspect.Hold, held time.Duration, looks int) string {
	if looks == 0 {
		return "one holder has had it"
	}
	looks = max(looks, 2) // the second look of one sweep is not counted
	seen, who := "the same client had it", "it"
	if holders.DistinctionOf(v, h) == holders.Indistinct {
		seen, who = "its value and its end were the same", "its holder"
	}
	return fmt.Sprintf("at %d looks, %v apart, %s; %s may have released it in between. Otherwise it has had it", looks,
		clock.Round(held/time.Duration(looks-1)), seen, who)
}

// stays explains a missing TTL. Readers have an expiry of their own, so that none of them is in the way for ever; the
// key is. now stands for the node's clock.
func stays(v *keyreader.Value, now time.Time) string {
	const until = " until someone reads or writes, or a person deletes it; a plain lock of that name is refused"
	readers := v.ReadLeases()
	switch {
	case v.LikeReaders:
		return fmt.Sprintf("its TTL is -1: its %d readers are too many to be read, and the key stays", v.Size) + until
	case len(readers) == 0:
		return "its TTL is -1: it stays until its holder or a person deletes it"
	}
	last := slices.MaxFunc(readers, func(a, b keyreader.ReadLease) int { return a.Ends.Compare(b.Ends) }).Ends
	text := fmt.Sprintf("its TTL is -1: the time of its last reader (of %d) ends in %v, but the key stays",
		len(readers), clock.Round(last.Sub(now)))
	if !last.After(now) {
		text = fmt.Sprintf("its TTL is -1: the time of its last reader (of %d) ended %v ago, but the key is still there",
			len(readers), clock.Round(now.Sub(last)))
	}
	return text + until
}

// ending says when a lock expires if nobody renews it.
func ending(v *keyreader.Value) string {
	if v.TTL == keyreader.Never {
		return "; it never expires"
	}
	return fmt.Sprintf("; it expires in %v unless renewed", clock.Round(v.TTL))
}

func foreignEvidence(v *keyreader.Value) string {
	expiry := "never expires"
	if v.TTL != keyreader.Never {
		expiry = "expires in " + clock.Round(v.TTL).String()
	}
	if v.Type == keyreader.Hash {
		return fmt.Sprintf("it is a hash whose %d fields are not those of a Redisson lock, and %s", v.Size, expiry)
	}
	return fmt.Sprintf("it is a %s, a type that no lock has, and %s", v.Type, expiry)
}

// clause names the policy in the evidence of a finding.
func clause(p *report.Policy) string {
	if p.Name == "" {
		return ""
	}
	return fmt.Sprintf(" set by policy %s", inspect.KeyText(p.Name))
}

// About begins the evidence of a lock that is part of a construct, as its holder says: which construct, and which slot
// of a semaphore. It is "" for a lock by itself. patterns are those of the scanner: a name lacks what they begin with.
func About(key string, h *inspect.Hold, patterns []string) string {
	name := nameOf(key, patterns)
	switch h.Kind {
	case lock.KindElection:
		return fmt.Sprintf("election %s: ", inspect.KeyText(name))
	case lock.KindSet:
		return fmt.Sprintf("%s, held as part of a set: ", inspect.KeyText(name))
	case lock.KindRead:
		return fmt.Sprintf("reader of %s: ", inspect.KeyText(name))
	case lock.KindWrite:
		return fmt.Sprintf("writer of %s: ", inspect.KeyText(name))
	case lock.KindSemaphore:
		if semaphore, slot, ok := records.ParseSlot(name); ok {
			return fmt.Sprintf("slot %d of semaphore %s: ", slot, inspect.KeyText(semaphore))
		}
		return fmt.Sprintf("semaphore %s: ", inspect.KeyText(name))
	}
	return ""
}

func nameOf(key string, patterns []string) string {
	cut := len(key)
	for _, pattern := range patterns {
		head := keyreader.LiteralHead(pattern)
		prefix := head[:strings.LastIndexAny(head, ":_-./}|")+1] // the rest may be the begin of a name
		if len(prefix) < cut && strings.HasPrefix(key, prefix) {
			cut = len(prefix)
		}
	}
	if cut == len(key) {
		return key
	}
	return key[cut:]
}
