package driver

import (
	"context"
	"errors"
	"io"
	"net"
)

// Class is the kind of a node's failure. Metrics, spans, logs and pages use the same word, and
// the engine decides by it whether to try again.
type Class string

// The classes of failure. [Other] covers errors without a class of their own.
const (
	Other         Class = "other"
	Timeout       Class = "timeout"       // no answer in time; the outcome is unknown
	Unreachable   Class = "unreachable"   // no connection, or it broke; the outcome may be unknown
	Busy          Class = "busy"          // not asked: too many commands are under way there
	Denied        Class = "denied"        // authentication failed, or the user lacks a right
	Quarantined   Class = "quarantined"   // it may have forgotten locks that are still valid
	Replica       Class = "replica"       // it follows another server
	Evicting      Class = "evicting"      // it may evict locks under memory pressure
	Duplicate     Class = "duplicate"     // it is another node under a second name
	Misconfigured Class = "misconfigured" // it cannot be used as it is configured
)

// Barred reports whether the node can be reached but may not vote in its present state.
func (c Class) Barred() bool {
	switch c {
	case Quarantined, Replica, Evicting, Duplicate, Misconfigured:
		return true
	}
	return false
}

// Permanent reports whether retrying is useless until a person steps in or a quarantine ends.
func (c Class) Permanent() bool { return c == Denied || c.Barred() }

// Silent reports whether the node was asked and did not answer.
func (c Class) Silent() bool { return c == Timeout || c == Unreachable }

// Errors of a node, one for each class. Drivers wrap them with the cause and the remedy. Test for
// them with [errors.Is], or call [ClassOf].
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

// ErrNotSent means that a command was not sent, and so has no effect, now or later. Another error
// in the same tree may say why; without one its class is [Busy].
var ErrNotSent = errors.New("not asked")

// Errors within a class, or beside all of them.
var (
	// ErrUnexamined means that the state of a node could not be examined.
	ErrUnexamined = NewError(Misconfigured, "node could not be examined")
	// ErrSilent means that a node was not asked because it left its last calls unanswered.
	ErrSilent = NewError(Busy, "node did not answer its last calls")
	// ErrFenceCounter means that a node's fence counter has a value that cannot be
	// incremented: tokens granted from it would repeat or go back.
	ErrFenceCounter = NewError(Misconfigured, "fence counter cannot be incremented")
	// ErrBadReply means that the node sent a reply of an unknown form.
	ErrBadReply = NewError(Other, "reply not understood")
	// ErrTombstone means that a late acquire met the tombstone of its own release.
	ErrTombstone = NewError(Other, "attempt was already given up")
	// ErrUnheard means that the caller did not wait for the answer. The node may be
	// healthy, and the command may still take effect.
	ErrUnheard = errors.New("the caller did not wait for the answer")
	// ErrNoWakeUps is Subscribe's answer if a node does not notify waiters. They poll
	// instead, and there is no queue. It is not a failure.
	ErrNoWakeUps = errors.New("node does not notify waiters")
	// ErrClosed means that the node was closed. Nothing was sent.
	ErrClosed = errors.New("node is closed")
)

// NewError returns an error of a class, for a driver's sentinel errors.
func NewError(class Class, text string) error { return &classError{class, text} }

type classError struct {
	class Class
	text  string
}

func (e *classError) Error() string { return e.text }

// Quarantined is for package lock, which recognizes such errors without importing this package.
func (e *classError) Quarantined() bool { return e.class == Quarantined }

// ClassOf returns the class of a node's error; "" for nil. The first error in its tree that has a
// class decides. Otherwise a deadline is Timeout, another network error is Unreachable,
// [ErrNotSent] is Busy, and the rest is Other.
func ClassOf(err error) Class {
	if err == nil {
		return ""
	}
	if known, ok := errors.AsType[*classError](err); ok {
		return known.class
	}
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), isNetwork && network.Timeout():
		return Timeout
	case isNetwork, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Unreachable
	case errors.Is(err, ErrNotSent):
		return Busy
	}
	return Other
}

// WithRemedy appends to a node's error what a person does about it, in any program. Advice for those who make the client
// belongs in the error's text.
func WithRemedy(err error, remedy string) error { return &remedied{err, remedy} }

// HasRemedy reports whether the tree of an error has a remedy, so that a caller needs none of its own.
func HasRemedy(err error) bool {
	_, ok := errors.AsType[*remedied](err)
	return ok
}

type remedied struct {
	err    error
	remedy string
}

func (e *remedied) Error() string { return e.err.Error() + ": " + e.remedy }

func (e *remedied) Unwrap() error { return e.err }

// Describe returns the text of the sentinel that err wraps, without details, for output that
// must not show the words of a reply. It returns "" if err wraps none.
func Describe(err error) string {
	if known, ok := errors.AsType[*classError](err); ok {
		return known.text
	}
	if errors.Is(err, ErrNotSent) {
		return ErrNotSent.Error()
	}
	return ""
}
