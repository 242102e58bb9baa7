package report

import "fmt"

// Look is what one reading of a system beside Redis has shown. See scanner.System.
type Look struct {
	Found   []Observation
	Read    []Counted // what was read
	Gaps    []Gap     // what could not be read; Node and Group may be empty
	Skipped []Gap     // what was not looked for, and not asked for

	// Hides reports whether a finding of an earlier look may still be there, although this look does not have it: the
	// part that it is in was not read. nil: everything was read.
	Hides func(f *Finding) bool
}

// Observation is a finding that another look has to confirm.
type Observation struct {
	Finding
	Identity string // the same at every look, as long as nothing has happened to the lock; never shown
	Guard    string // what a repair compares before it acts; "" where there is none. It is no secret
}

// Counted is how many things of a kind were read.
type Counted struct {
	What string // plural, such as "advisory locks"
	N    int64
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
func (l *Look) Count(n int, what string) { l.Read = append(l.Read, Counted{what, int64(n)}) }

// Add adds a finding.
func (l *Look) Add(f Finding, identity string) {
	l.Found = append(l.Found, Observation{Finding: f, Identity: identity})
}

// Guarded adds a finding that a repair may act on.
func (l *Look) Guarded(f Finding, identity, guard string) {
	l.Found = append(l.Found, Observation{Finding: f, Identity: identity, Guard: guard})
}

// Hide adds findings to those that Hides reports.
func (l *Look) Hide(part func(f *Finding) bool) {
	before := l.Hides
	l.Hides = func(f *Finding) bool { return part(f) || before != nil && before(f) }
}
