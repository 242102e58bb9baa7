package repair

import (
	"errors"
)

// Errors of Repair, before any command is sent.
var (
	// ErrInvalidAction reports an Action that Expire or Delete did not make, or an expiry below 1 ms.
	ErrInvalidAction = errors.New("scanner: invalid action")
	// ErrNotConfirmed reports a finding that is not, or no longer, a confirmed one of this Scanner: sweep again.
	ErrNotConfirmed = errors.New("scanner: not a confirmed finding of this scanner: sweep again")
	// ErrNotRepairable reports a key that needs repair by hand: it is not a lock, or its value does not identify one
	// lease.
	ErrNotRepairable = errors.New("scanner: cannot be repaired safely")
	// ErrTooYoung reports a value younger than scanner.WithRepairMinAge: its holder may be at work. The text says how
	// long to wait.
	ErrTooYoung = errors.New("scanner: too young to be repaired")
	// ErrIncomplete reports that the last sweep did not read everything that concerns a finding. The text has the
	// [inspect.Reason] and the remedy.
	ErrIncomplete = errors.New("scanner: the evidence is incomplete")
	// ErrInvalidPlan reports something that is not a plan, or a plan that was changed, has expired or is for other
	// servers. The text has the remedy.
	ErrInvalidPlan = errors.New("scanner: the plan cannot be carried out")
)
