package lock

import (
	"errors"
)

// Errors of acquiring. Test for them with [errors.Is]: they come wrapped with
// the resource, the node and, where a context ended, its error.
var (
	// ErrHeld says that somebody else holds the resource; see [HeldError].
	ErrHeld = errors.New("lock: held by another owner")
	// ErrNoQuorum says that too few nodes answered to decide; see [QuorumError].
	ErrNoQuorum = errors.New("lock: no quorum of nodes")
	// ErrTooLate says that a quorum granted the lock, but so slowly that no
	// validity was left: raise the TTL or look at the nodes' latency.
	ErrTooLate = errors.New("lock: granted too late to be valid")
	// ErrMaxWait says that the wait budget of [MaxWait] was spent. It does not match
	// context.DeadlineExceeded: no context of the caller's has ended.
	ErrMaxWait = errors.New("lock: wait budget spent")
	// ErrDeadlock says that a call waits for what, in the end, only its own caller can
	// release; see [DeadlockError].
	ErrDeadlock = errors.New("lock: deadlock")
	// ErrClosed says that the engine was closed.
	ErrClosed = errors.New("lock: closed")
)

// Causes a lease's context ends with, and errors of using a lease.
var (
	// ErrLost says that the lease ended before it was released: its validity ran
	// out, or a quorum no longer knows it.
	ErrLost = errors.New("lock: lease lost")
	// ErrReleased is the cause of a lease's context after Release.
	ErrReleased = errors.New("lock: lease released")
	// ErrMaxHold says that the lease reached its maximum hold and is renewed no more.
	ErrMaxHold = errors.New("lock: maximum hold reached")
	// ErrNotHeld says that the nodes no longer held the lease when it was
	// released or extended; see [ReleaseError].
	ErrNotHeld = errors.New("lock: not held any more")
)

// Errors of bad input, reported before any command is sent.
var (
	// ErrInvalidResource says that a resource name cannot be a lock.
	ErrInvalidResource = errors.New("lock: invalid resource name")
	// ErrInvalidTTL says that a TTL is not usable with this configuration.
	ErrInvalidTTL = errors.New("lock: invalid TTL")
	// ErrInvalidOption says that an option's value is not usable.
	ErrInvalidOption = errors.New("lock: invalid option")
	// ErrInvalidNode says that a client or URL is not usable as a node.
	ErrInvalidNode = errors.New("lock: invalid node")
)
