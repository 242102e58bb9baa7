package scripts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

var (
	// errLoading means that the server has started, and answers INFO, but refuses commands.
	errLoading = driver.NewError(driver.Unreachable, "node is still loading its data")
	// errBlocked means that the server refuses nearly all commands, INFO among them, until a script ends.
	errBlocked = driver.NewError(driver.Unreachable, "node is blocked by a script")
)

// Classify adds the class of a go-redis error if its type does not show it. It does not wrap the
// context error of a timeout: it is the node's timeout, not the caller's.
func Classify(err error) error {
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, redis.ErrPoolTimeout) || errors.As(err, &network) && network.Timeout() {
		return fmt.Errorf("%w (%v)", driver.ErrTimeout, err)
	}
	err = redisconn.Scrub(err)
	switch {
	case redisconn.HasCode(err, "LOADING"):
		return driver.WithRemedy(fmt.Errorf("%w: %w", errLoading, err), "wait until it has loaded all of it")
	case redisconn.HasCode(err, "BUSY "):
		return driver.WithRemedy(fmt.Errorf("%w: %w", errBlocked, err), "wait until the script ends, or run SCRIPT KILL there")
	case redisconn.IsDenied(err):
		return fmt.Errorf("%w: %w: %s", driver.ErrDenied, err, accessRemedy(err))
	case redisconn.IsUnknownCommand(err):
		return fmt.Errorf("%w: %w: use a Redis that has this command", driver.ErrMisconfigured, err)
	}
	return err
}

// accessRemedy is the remedy for a client that the server denies.
func accessRemedy(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "WRONGPASS"):
		return "correct the user and password of the client"
	case strings.Contains(text, "NOAUTH"):
		return "give the client a password"
	}
	return `grant the user the rights that "lockscope doctor" lists`
}
