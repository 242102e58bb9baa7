package repair

import (
	"errors"
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
	// scanner.WithRepairMinAge: its holder may be at work. The text says how long is left.
	ErrTooYoung = errors.New("scanner: too young to be repaired")
	// ErrIncomplete says that the last sweep did not read all that bears on a finding. The
	// text has the [report.Reason], and what to do about it.
	ErrIncomplete = errors.New("scanner: the evidence is incomplete")
	// ErrInvalidPlan says that a plan is none, was changed after it was made, has expired, or
	// is one for other servers. Its text has the remedy.
	ErrInvalidPlan = errors.New("scanner: the plan cannot be carried out")
)
