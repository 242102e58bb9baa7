package repair

import (
	"fmt"
	"strings"
	"time"
)

// Action is what scanner.Scanner.Repair does to a key: [Expire] or [Delete].
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
		return Action{}, fmt.Errorf("%w: %q: use delete or expire=DURATION, such as expire=1h", ErrInvalidAction, s)
	}
	return Expire(d), Expire(d).Validate()
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

// Validate returns [ErrInvalidAction] for an action that is none.
func (a Action) Validate() error {
	if !a.remove && a.after < time.Millisecond {
		return fmt.Errorf("%w: expire=%v: must be at least 1ms", ErrInvalidAction, a.after)
	}
	return nil
}

// Deletes says that it deletes the key.
func (a Action) Deletes() bool { return a.remove }

// After is in what time it lets the key end, of one that does not delete it.
func (a Action) After() time.Duration { return a.after }

// IsDry says that it changes nothing.
func (a Action) IsDry() bool { return a.dry }
