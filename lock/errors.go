package lock

import "errors"

// The errors of this package. Test for them with [errors.Is]. The errors that wrap them name the resource and the nodes
// and, if a context ended, wrap its error.
var (
	// Of Acquire:

	// ErrHeld means that another owner holds the resource; see [HeldError].
	ErrHeld = errors.New("lock: held by another owner")
	// ErrNoQuorum means that too few nodes answered to decide; see [QuorumError].
	ErrNoQuorum = errors.New("lock: no quorum of nodes")
	// ErrTooLate means that a quorum granted the lock too slowly to leave any validity.
	// Raise the TTL, or find out why the nodes are slow.
	ErrTooLate = errors.New("lock: granted too late to be valid")
	// ErrMaxWait means that the budget of [MaxWait] is spent. It does not match
	// context.DeadlineExceeded, as no context of the caller has ended.
	ErrMaxWait = errors.New("lock: wait budget spent")
	// ErrDeadlock means that the call waits for a lease that, through a cycle of
	// waits, only its own caller can free; see [DeadlockError].
	ErrDeadlock = errors.New("lock: deadlock")
	// ErrClosed means that the engine is closed.
	ErrClosed = errors.New("lock: closed")

	// Causes of the end of a lease's context, and errors of Extend and Release:

	// ErrLost means that the lease ended before it was released: its validity expired,
	// or a quorum of nodes no longer holds it.
	ErrLost = errors.New("lock: lease lost")
	// ErrReleased is the cause of a lease's context after Release.
	ErrReleased = errors.New("lock: lease released")
	// ErrMaxHold means that the lease ended at the maximum hold; see [MaxHold].
	ErrMaxHold = errors.New("lock: maximum hold reached")
	// ErrNotHeld means that the nodes no longer held the lease when it was released or
	// extended; see [ReleaseError]. It also means that there is no lease to act on.
	ErrNotHeld = errors.New("lock: not held")

	// Of invalid input, before any command is sent. Two checks come later, because they need the nodes: [Fenced] and the
	// size of a semaphore.

	// ErrInvalidResource means that the resource name is not allowed; see
	// [ValidateResource].
	ErrInvalidResource = errors.New("lock: invalid resource name")
	// ErrInvalidTTL means that the TTL is out of range for this configuration.
	ErrInvalidTTL = errors.New("lock: invalid TTL")
	// ErrInvalidOption means that an option has an invalid value.
	ErrInvalidOption = errors.New("lock: invalid option")
	// ErrInvalidNode means that a client or URL cannot be a node.
	ErrInvalidNode = errors.New("lock: invalid node")
)
