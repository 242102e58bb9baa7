package backend

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner"
)

// LeakRules say what is a finding, by the flags of scan.
type LeakRules struct {
	MaxTTL, MaxHold time.Duration
	MaxTerm         time.Duration   // of leaders of elections; zero: no limit
	Checks          []scanner.Class // what is looked for
	Orphans         bool            // orphans were asked for by name
	Prefixes        []string        // beside the backend's own
	Schema          bool            // the schema of pglock was named, so it has to be there
	AllowEmpty      bool            // finding no locks at all is complete
	Most            int             // findings to keep
	Deadline        time.Duration
	ConfirmAfter    time.Duration
}

// Wants reports whether a class of findings is looked for.
func (r *LeakRules) Wants(class scanner.Class) bool { return slices.Contains(r.Checks, class) }

// HoldLimit is how long a holder may have a lock; zero: as long as it wants.
func (r *LeakRules) HoldLimit(kind lock.Kind) time.Duration {
	if kind == lock.KindElection {
		return r.MaxTerm
	}
	return r.MaxHold
}

// Leaks is what one look at a system has found.
type Leaks struct {
	Found    []Leak
	Overflow int           // findings that were only counted
	Read     []Counted     // what was read
	Gaps     []scanner.Gap // what could not be read
	Skipped  []scanner.Gap // what was not looked for, and not asked for
}

// Counted is how many things of a kind were read.
type Counted struct {
	What string // plural, such as "advisory locks"
	N    int64
}

// Leak is a finding that a second look has to confirm.
type Leak struct {
	scanner.Finding
	Identity string // the same at both looks, if nothing happened in between
}

// Gap adds a part that could not be read.
func (l *Leaks) Gap(reason scanner.Reason, format string, args ...any) {
	l.Gaps = append(l.Gaps, scanner.Gap{Reason: reason, Detail: fmt.Sprintf(format, args...)})
}

// Skip adds a part that was not looked for.
func (l *Leaks) Skip(reason scanner.Reason, format string, args ...any) {
	l.Skipped = append(l.Skipped, scanner.Gap{Reason: reason, Detail: fmt.Sprintf(format, args...)})
}

// Count adds a number of things that were read.
func (l *Leaks) Count(n int, what string) { l.Read = append(l.Read, Counted{what, int64(n)}) }

// Add adds a finding.
func (l *Leaks) Add(f scanner.Finding, identity string) {
	l.Found = append(l.Found, Leak{Finding: f, Identity: identity})
}

// AddHeld adds what is wrong with a lock that lockscope's own driver took, or nothing.
func (l *Leaks) AddHeld(r *LeakRules, k *scanner.Lock, place, identity string, now time.Time) {
	f := scanner.Finding{Place: place, Key: k.Key, Type: k.Type, TTL: k.TTL, Hold: k.Hold}
	add := func(class scanner.Class, format string, args ...any) {
		f.Class, f.Evidence = class, fmt.Sprintf(format, args...)
		if r.Wants(class) {
			l.Add(f, identity)
		}
	}
	limit := r.HoldLimit(k.Hold.Kind)
	held := now.Sub(k.Hold.Since)
	switch {
	case k.TTL < 0:
		add(scanner.NoTTL, "it never expires: it stays until its holder or a person deletes it")
		return
	case k.TTL > r.MaxTTL:
		add(scanner.LongTTL, "its TTL is %v, longer than the limit of %v", Round(k.TTL), r.MaxTTL)
	}
	if !k.Hold.Since.IsZero() && limit > 0 && held > limit {
		add(scanner.HeldTooLong, "one holder has had it for %v, longer than the limit of %v", Round(held), limit)
	}
}

// Round rounds a duration as a person reads it.
func Round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}
