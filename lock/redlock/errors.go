package redlock

import "github.com/lockscope/lockscope/lock/redlock/guard"

// ErrNotNew means that a node cannot be vouched for: it may have forgotten locks, or may soon.
var ErrNotNew = guard.ErrNotNew

// ErrOtherConfiguration means that a node votes for another set of nodes, or another MaxTTL,
// than this process has. Its class is misconfigured.
var ErrOtherConfiguration = guard.ErrOtherConfiguration

// Errors of [Reconfigure].
var (
	// ErrNotReached means that too few nodes could be reached.
	ErrNotReached = guard.ErrNotReached
	// ErrStaleConfiguration means that a node has a configuration that is neither the old
	// nor the new one.
	ErrStaleConfiguration = guard.ErrStale
	// ErrChangeUnderWay means that another change is under way, or was in the last ten seconds.
	ErrChangeUnderWay = guard.ErrBusy
	// ErrAlreadyChanged means that there was nothing to do.
	ErrAlreadyChanged = guard.ErrAlreadyChanged
)
