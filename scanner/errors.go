package scanner

import (
	"errors"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
)

// Errors of a Scanner. Test for them with [errors.Is].
var (
	// ErrInvalidOption reports an unusable option value. New and Open return it before they send a command.
	ErrInvalidOption = errors.New("scanner: invalid option")
	// ErrInvalidNode reports a client or URL that cannot be a node.
	ErrInvalidNode = node.ErrInvalid
	// ErrStarted reports a second call of Start.
	ErrStarted = errors.New("scanner: already started")
	// ErrClosed reports a call after Close.
	ErrClosed = errors.New("scanner: closed")
	// ErrDeadline reports that a sweep reached its deadline. Commands that the deadline cuts off have it as the cause
	// of their context.
	ErrDeadline = sweep.ErrDeadline
	// ErrNotMaster reports a node that is a replica of a Redis Cluster, which serves no keys.
	ErrNotMaster = coverage.ErrNotMaster
	// ErrNotReplica reports that a server given to [WithReplicas] does not replicate its node.
	ErrNotReplica = coverage.ErrNotReplica
	// ErrBadReply reports a server reply in a form that the scanner does not know.
	ErrBadReply = driver.ErrBadReply
)
