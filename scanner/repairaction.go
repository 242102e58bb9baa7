package scanner

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of Repair, before any command is sent.
var (
	// ErrInvalidAction says that an Action was not made by Expire or Delete, or with
	// a time that is none.
	ErrInvalidAction = errors.New("scanner: invalid action")
	// ErrNotConfirmed says that a finding is not, or no longer, a confirmed one of
	// this Scanner: sweep again.
	ErrNotConfirmed = errors.New("scanner: not a confirmed finding of this scanner: sweep again")
	// ErrNotRepairable says that the key must be repaired by hand: it is no lock, or
	// its value cannot be told from another one.
	ErrNotRepairable = errors.New("scanner: cannot be repaired safely")
	// ErrTooYoung says that a value has not been seen for the minimum age of
	// [WithRepairMinAge]: its holder may be at work. The text says how long is left.
	ErrTooYoung = errors.New("scanner: too young to be repaired")
	// ErrIncomplete says that the last sweep did not read all that bears on a finding. The
	// text has the [Reason], and what to do about it.
	ErrIncomplete = errors.New("scanner: the evidence is incomplete")
)

// Action is what [Scanner.Repair] does to a key: [Expire] or [Delete].
type Action struct {
	remove bool
	after  time.Duration
	dry    bool
}

// Delete deletes the key.
func Delete() Action { return Action{remove: true} }

// Expire lets the key end by itself after d, which leaves time to find out why it
// was there. At least 1 ms. It never prolongs: a key that ends sooner is left
// alone. A holder that renews its lock undoes it with the next renewal.
func Expire(d time.Duration) Action { return Action{after: d} }

// DryRun returns an action that tells what a would do and does nothing.
func (a Action) DryRun() Action {
	a.dry = true
	return a
}

// ParseAction reads "delete" or "expire=1h".
func ParseAction(s string) (Action, error) {
	if s == "delete" {
		return Delete(), nil
	}
	text, found := strings.CutPrefix(s, "expire=")
	d, err := time.ParseDuration(text)
	if !found || err != nil {
		return Action{}, fmt.Errorf("%w: %q; delete or expire=1h is expected", ErrInvalidAction, s)
	}
	return Expire(d), Expire(d).validate()
}

// String returns what ParseAction reads, followed by " (dry run)" if it is one.
func (a Action) String() string {
	s := "expire=" + a.after.String()
	if a.remove {
		s = "delete"
	}
	if a.dry {
		s += " (dry run)"
	}
	return s
}

func (a Action) validate() error {
	if !a.remove && a.after < time.Millisecond {
		return fmt.Errorf("%w: it expires in %v; at least 1ms", ErrInvalidAction, a.after)
	}
	return nil
}

// RepairOutcome is what became of a key.
type RepairOutcome string

// The outcomes of a repair.
const (
	RepairDone    RepairOutcome = "done"
	RepairWouldDo RepairOutcome = "would_do" // dry run: it would have been done
	// RepairChanged is a key that is not as it was found: another value, another
	// kind of TTL, or ending sooner than the repair would let it. It was not touched.
	RepairChanged RepairOutcome = "changed"
	RepairGone    RepairOutcome = "gone" // there is no such key any more
)

// Repaired is the result of a repair. It has all that an audit line needs.
type Repaired struct {
	Node    string
	Key     string // as stored: any bytes; see [KeyText]
	Class   Class
	Action  Action
	Outcome RepairOutcome
	TTL     time.Duration // found before the repair; negative: none, or no key
}

// RepairError says that a repair failed. Whether it was done is not known if the
// connection failed; repairing again tells.
type RepairError struct {
	Node   string
	Key    string
	Action Action
	Err    error
}

func (e *RepairError) Error() string {
	return fmt.Sprintf("scanner: node %s: %v of %s: %v", e.Node, e.Action, clipKey(e.Key), e.Err)
}

// Unwrap returns the cause.
func (e *RepairError) Unwrap() error { return e.Err }

// maxErrorKey is how much of a key an error shows.
const maxErrorKey = 256

func clipKey(key string) string {
	if len(key) <= maxErrorKey {
		return KeyText(key)
	}
	return fmt.Sprintf("%s… (%d bytes)", KeyText(key[:maxErrorKey]), len(key))
}
