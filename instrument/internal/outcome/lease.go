package outcome

import (
	"errors"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Extension is the result of a round of renewal.
type Extension int

// The values of the label outcome of extensions_total.
const (
	Extended Extension = iota
	ExtendLost
	ExtendError // it could not tell
	ExtendOvertaken
	Extensions // how many there are
)

var extensions = [Extensions]string{"ok", "lost", "error", "overtaken"}

func (e Extension) String() string { return extensions[e] }

// OfExtend classifies the error of an Extend.
func OfExtend(err error) Extension {
	switch {
	case err == nil:
		return Extended
	case errors.Is(err, lock.ErrLost), errors.Is(err, lock.ErrMaxHold), errors.Is(err, lock.ErrNotHeld):
		return ExtendLost
	case errors.Is(err, lock.ErrReleased), errors.Is(err, lock.ErrClosed):
		return ExtendOvertaken
	default:
		return ExtendError
	}
}

// OfRenewal classifies the end of a round that a hook reported.
func OfRenewal(o locktrace.RenewOutcome) Extension {
	switch o {
	case locktrace.RenewDone:
		return Extended
	case locktrace.RenewLost:
		return ExtendLost
	case locktrace.RenewOvertaken:
		return ExtendOvertaken
	default:
		return ExtendError
	}
}

// Loss is why a lease ended before it was released.
type Loss int

// The values of the label reason of lost_total.
const (
	Expired Loss = iota
	TakenOver
	ExtendFailed
	MaxHold
	Losses // how many there are
)

var losses = [Losses]string{"expired", "taken_over", "extend_failed", "max_hold"}

func (l Loss) String() string { return losses[l] }

// OfRelease classifies the error of a Release.
func OfRelease(err error) lock.Outcome {
	if failure, ok := errors.AsType[*lock.ReleaseError](err); ok {
		return failure.Outcome
	}
	if err != nil {
		return lock.OutcomeUnknown
	}
	return lock.OutcomeReleased
}
