package repair

import (
	"fmt"
	"strings"
	"time"
)

// Action is what a repair does to a key: [Expire] or [Delete]. In PostgreSQL a plan can also say [Terminate].
type Action struct {
	remove bool
	ends   bool
	after  time.Duration
	dry    bool
}

// Delete returns the action that deletes the key.
func Delete() Action { return Action{remove: true} }

// Expire returns the action that lets the key expire after d, which leaves time to find out why it was there. At
// least 1 ms. It never prolongs a TTL: a key that expires sooner is left alone. A holder that renews its lock undoes
// the action with its next renewal.
func Expire(d time.Duration) Action { return Action{after: d} }

// Terminate returns the action that ends the session that has a lock of PostgreSQL.
func Terminate() Action { return Action{ends: true} }

// DryRun returns an action that reports what a would do, and does nothing.
func (a Action) DryRun() Action {
	a.dry = true
	return a
}

// InEarnest returns the action without its dry run.
func (a Action) InEarnest() Action {
	a.dry = false
	return a
}

// ParseAction parses "delete" or an expiry such as "expire=1h". The error matches [ErrInvalidAction].
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

// String returns the form that ParseAction reads, followed by " (dry run)" for a dry run.
func (a Action) String() string {
	s := "expire=" + a.after.String()
	switch {
	case a.remove:
		s = "delete"
	case a.ends:
		s = "terminate"
	}
	if a.dry {
		s += " (dry run)"
	}
	return s
}

// Validate returns an error that matches [ErrInvalidAction] for the zero Action and for an expiry below 1 ms.
func (a Action) Validate() error {
	if !a.remove && a.after < time.Millisecond {
		return fmt.Errorf("%w: expire=%v: must be at least 1ms", ErrInvalidAction, a.after)
	}
	return nil
}

// Deletes reports whether the action deletes the key.
func (a Action) Deletes() bool { return a.remove }

// After returns the time after which the key expires, for an action that does not delete it.
func (a Action) After() time.Duration { return a.after }

// IsDry reports whether the action is a dry run.
func (a Action) IsDry() bool { return a.dry }
