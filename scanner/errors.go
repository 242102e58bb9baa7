package scanner

import "errors"

// Errors of a Scanner. Test for them with [errors.Is]. Those of repairs are in package repair, those of a node in
// package report.
var (
	// ErrInvalidOption reports an unusable option value. New and Open return it before they send a command.
	ErrInvalidOption = errors.New("scanner: invalid option")
	// ErrInvalidNode reports a client or URL that cannot be a node.
	ErrInvalidNode = errors.New("scanner: invalid node")
	// ErrStarted reports a second call of Start.
	ErrStarted = errors.New("scanner: already started")
	// ErrClosed reports a call after Close.
	ErrClosed = errors.New("scanner: closed")
)
