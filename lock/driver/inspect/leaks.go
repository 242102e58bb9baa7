package inspect

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Rules say what is a leak.
type Rules struct {
	MaxTTL, MaxHold time.Duration
	MaxTerm         time.Duration // of leaders of elections; zero: no limit
	Classes         []Class       // what is looked for
	Orphans         bool          // orphans were asked for by name
	Prefixes        []string      // of locks, beside the driver's own
	Schema          bool          // the schema was named, so it has to be there
	AllowEmpty      bool          // finding no locks at all is complete
	Most            int           // leaks of a class to keep
}

// Wants reports whether a class of leaks is looked for.
func (r *Rules) Wants(class Class) bool { return slices.Contains(r.Classes, class) }

// HoldLimit is how long a holder may have a lock; zero: as long as it wants.
func (r *Rules) HoldLimit(kind lock.Kind) time.Duration {
	if kind == lock.KindElection {
		return r.MaxTerm
	}
	return r.MaxHold
}

// Leak is something wrong with a lock, or with what keeps others from one.
type Leak struct {
	Class    Class
	Place    string        // where in the system, if the key does not say it: database, or database/schema
	Key      string        // any bytes
	Type     string        // what the system keeps it in: row, advisory, transaction, key or znode
	TTL      time.Duration // negative: it has none
	Hold     Hold
	Evidence string // one sentence with the numbers behind it
	Identity string // the same at every look, as long as nothing has happened to the lock; never shown

	Guard  string // what a repair compares before it acts. It is no secret
	Action Action // what a repair does; "": nothing
	Unsafe string // why it does nothing
}

// Look is what one reading has shown.
type Look struct {
	Leaks   []Leak
	Read    []Counted // what was read
	Gaps    []Gap     // what could not be read
	Skipped []Gap     // what was not looked for, and not asked for

	// Hides reports whether a leak of an earlier look may still be there, although this look does not have it: the part
	// that it is in was not read. Of the leak it has class, place, key and type. nil: everything was read.
	Hides func(l *Leak) bool
}

// Counted is how many things of a kind were read.
type Counted struct {
	What string // plural, such as "advisory locks"
	N    int
}

// Gap adds a part that could not be read.
func (l *Look) Gap(reason Reason, format string, args ...any) {
	l.Gaps = append(l.Gaps, Gap{Reason: reason, Detail: fmt.Sprintf(format, args...)})
}

// Skip adds a part that was not looked for.
func (l *Look) Skip(reason Reason, format string, args ...any) {
	l.Skipped = append(l.Skipped, Gap{Reason: reason, Detail: fmt.Sprintf(format, args...)})
}

// Count adds a number of things that were read.
func (l *Look) Count(n int, what string) { l.Read = append(l.Read, Counted{what, n}) }

// Hide adds leaks to those that Hides reports.
func (l *Look) Hide(part func(l *Leak) bool) {
	before := l.Hides
	l.Hides = func(leak *Leak) bool { return part(leak) || before != nil && before(leak) }
}

// Add adds a leak if its class is looked for.
func (l *Look) Add(r *Rules, leak Leak, format string, args ...any) {
	if r.Wants(leak.Class) {
		leak.Evidence = fmt.Sprintf(format, args...)
		l.Leaks = append(l.Leaks, leak)
	}
}

// TooLong reports whether a holder has had a lock for longer than the rules allow, with both times. It adds nothing for a
// holder that does not say since when.
func (r *Rules) TooLong(h *lock.Holder, now time.Time) (held, limit time.Duration, tooLong bool) {
	held, limit = now.Sub(h.Since), r.HoldLimit(h.Kind)
	return held, limit, !h.Since.IsZero() && limit > 0 && held > limit
}
