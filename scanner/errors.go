package scanner

import (
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
)

// Errors of a Scanner. Test for them with [errors.Is].
var (
	// ErrInvalidOption says that an option's value is not usable. New and Open
	// report it before any command is sent.
	ErrInvalidOption = errors.New("scanner: invalid option")
	// ErrInvalidNode says that a client or URL is not usable as a node.
	ErrInvalidNode = node.ErrInvalid
	// ErrStarted says that Start was called before.
	ErrStarted = errors.New("scanner: already started")
	// ErrClosed says that the Scanner was closed.
	ErrClosed = errors.New("scanner: closed")
	// ErrDeadline says that a sweep reached its deadline. It is the cause of the
	// context of commands cut off by it.
	ErrDeadline = sweep.ErrDeadline
	// ErrNotMaster says that a node is a replica of a Redis Cluster, which answers for
	// no key.
	ErrNotMaster = coverage.ErrNotMaster
	// ErrNotReplica says that the server of [WithReplicas] is none of its node.
	ErrNotReplica = coverage.ErrNotReplica
	// ErrBadReply says that a server's answer is not one the scanner knows.
	ErrBadReply = driver.ErrBadReply
)

// NotifyError says that a [Notifier] did not take a report.
type NotifyError struct{ Err error }

func (e *NotifyError) Error() string { return fmt.Sprintf("scanner: notify: %v", e.Err) }

// Unwrap returns the notifier's own error.
func (e *NotifyError) Unwrap() error { return e.Err }
