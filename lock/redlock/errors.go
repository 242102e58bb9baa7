package redlock

import (
	"context"
	"errors"
	"fmt"
	"net"

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

// ErrNotReached says that [Reconfigure] reached too few nodes.
var ErrNotReached = guard.ErrNotReached

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
		return fmt.Errorf("%w: %w", driver.ErrDenied, err)
	case redisconn.IsUnknownCommand(err):
		return fmt.Errorf("%w: %w", driver.ErrMisconfigured, err)
	}
	return err
}
