package driver

import (
	"context"
	"errors"
	"io"
	"net"
)

// Class is the kind of a node's failure, the same word in every layer above: in the
// decision whether to try again, in metrics, spans, logs and on pages.
type Class string

// The classes of failure. [Other] is everything no driver has a class for.
const (
	Other         Class = "other"
	Timeout       Class = "timeout"       // no answer in time; the outcome is unknown
	Unreachable   Class = "unreachable"   // no connection, or it broke; the outcome may be unknown
	Busy          Class = "busy"          // not asked: too much is under way there already
	Denied        Class = "denied"        // the server knows us not, or does not let us
	Quarantined   Class = "quarantined"   // it may have forgotten locks that are still valid
	Replica       Class = "replica"       // it follows another server
	Evicting      Class = "evicting"      // it may drop locks under memory pressure
	Duplicate     Class = "duplicate"     // it is another node under a second name
	Misconfigured Class = "misconfigured" // it cannot be used as it is set up
)

// Barred reports that the node can be reached, and may not vote as it is.
func (c Class) Barred() bool {
	switch c {
	case Quarantined, Replica, Evicting, Duplicate, Misconfigured:
		return true
	}
	return false
}

// Permanent reports that no later try can succeed before somebody steps in, or before
// a quarantine is over.
func (c Class) Permanent() bool { return c == Denied || c.Barred() }

// Silent reports that the node was asked and said nothing.
func (c Class) Silent() bool { return c == Timeout || c == Unreachable }

// Errors of a node, one for each class. Drivers wrap them, with the cause and the
// remedy; test for them with [errors.Is], or ask [ClassOf].
var (
	ErrTimeout       = NewError(Timeout, "no answer within the node timeout")
	ErrUnreachable   = NewError(Unreachable, "node cannot be reached")
	ErrDenied        = NewError(Denied, "node denies access")
	ErrQuarantined   = NewError(Quarantined, "node may have lost locks and may not vote yet")
	ErrReplica       = NewError(Replica, "node is a replica")
	ErrEvicting      = NewError(Evicting, "node may evict locks")
	ErrDuplicate     = NewError(Duplicate, "two nodes are the same server")
	ErrMisconfigured = NewError(Misconfigured, "node is not set up for locks")
)

// ErrNotSent says that a command was not sent: it has no effect, now or later. It may
// stand beside an error that says why; alone it is [Busy].
var ErrNotSent = errors.New("not asked")

// Errors within a class, or beside all of them.
var (
	// ErrUnexamined says that the state of a node could not be examined.
	ErrUnexamined = NewError(Misconfigured, "node could not be examined")
	// ErrSilent says that a node was not asked since it had left its last calls unanswered.
	ErrSilent = NewError(Busy, "node did not answer its last calls")
	// ErrFenceCounter says that a node's fence counter is not a number that can be
	// counted on from: tokens granted from it would repeat or go back.
	ErrFenceCounter = NewError(Misconfigured, "fence counter cannot be counted on from")
	// ErrBadReply says that a node's answer is not one of those there are.
	ErrBadReply = NewError(Other, "reply not understood")
	// ErrTombstone says that a late acquire met the tombstone of its own release.
	ErrTombstone = NewError(Other, "attempt was already given up")
	// ErrUnheard says that the caller did not wait for the answer, which says nothing of
	// the node. The command may still take effect.
	ErrUnheard = errors.New("the caller did not wait for the answer")
	// ErrNoWakeUps answers Subscribe where a node tells nobody that it is next: waiters
	// look again and again, and queue nowhere. It is no failure.
	ErrNoWakeUps = errors.New("node tells no waiters")
	// ErrClosed says that the node was closed. Nothing was sent.
	ErrClosed = errors.New("node is closed")
)

// NewError makes an error of a class, for the sentinels of a driver.
func NewError(class Class, text string) error { return &classError{class, text} }

type classError struct {
	class Class
	text  string
}

func (e *classError) Error() string { return e.text }

// Quarantined is for package lock, which tells such nodes apart without importing this one.
func (e *classError) Quarantined() bool { return e.class == Quarantined }

// ClassOf is the class of a node's error: of the first error in its tree that has one,
// else Unreachable for an error of the network and Timeout where that is a deadline,
// else Busy for [ErrNotSent]. It is "" for nil.
func ClassOf(err error) Class {
	var known *classError
	var network net.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.class
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return Timeout
	case network != nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Unreachable
	case errors.Is(err, ErrNotSent):
		return Busy
	}
	return Other
}

// Describe is the text of the sentinel that an error wraps, without any detail: fit for
// places where a reply's own words must not be shown. It is "" if there is none.
func Describe(err error) string {
	if known, ok := errors.AsType[*classError](err); ok {
		return known.text
	}
	if errors.Is(err, ErrNotSent) {
		return ErrNotSent.Error()
	}
	return ""
}
