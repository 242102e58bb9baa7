package redlock

import "github.com/lockscope/lockscope/lock/redlock/guard"

// ErrNotNew says that a node cannot be vouched for: it may have forgotten locks, or
// may come to.
var ErrNotNew = guard.ErrNotNew

// ErrOtherConfiguration says that a node votes for another set of nodes, or another
// MaxTTL, than this process was given. Its class is misconfigured.
var ErrOtherConfiguration = guard.ErrOtherConfiguration

// Errors of [Reconfigure].
var (
	// ErrNotReached says that too few nodes could be reached.
	ErrNotReached = guard.ErrNotReached
	// ErrStaleConfiguration says that a node stands for another configuration than the one
	// that is to be replaced, or the one that is to come.
	ErrStaleConfiguration = guard.ErrStale
	// ErrChangeUnderWay says that another change is under way, or was ten seconds ago.
	ErrChangeUnderWay = guard.ErrBusy
	// ErrAlreadyChanged says that there was nothing to do.
	ErrAlreadyChanged = guard.ErrAlreadyChanged
)
