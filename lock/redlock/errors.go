package redlock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

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

// classify gives an error of go-redis its class, where its type does not show it. The
// context error of a timeout stays out: it is the node's timeout, not the caller's.
func classify(err error) error {
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, redis.ErrPoolTimeout) || errors.As(err, &network) && network.Timeout() {
		return fmt.Errorf("%w (%v)", driver.ErrTimeout, err)
	}
	err = redisconn.Scrub(err)
	switch {
	case redisconn.IsDenied(err):
		return fmt.Errorf("%w: %w: %s", driver.ErrDenied, err, accessRemedy(err))
	case redisconn.IsUnknownCommand(err):
		return fmt.Errorf("%w: %w", driver.ErrMisconfigured, err)
	}
	return err
}

// accessRemedy is what lets a client in.
func accessRemedy(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "WRONGPASS"):
		return "correct the user and password of the client"
	case strings.Contains(text, "NOAUTH"):
		return "give the client a password"
	}
	return "grant the user the rights that lockscope doctor lists"
}
