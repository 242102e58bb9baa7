package zklock

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// isDisconnect reports whether a call was cut off: it may or may not have taken effect.
func isDisconnect(err error) bool {
	return isAny(err, zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved)
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// classify adds the class of a client error, and [driver.ErrNotSent] if the request was not sent.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case isAny(err, zk.ErrNoServer):
		return fmt.Errorf("%w: %w: %w", driver.ErrNotSent, driver.ErrUnreachable, err)
	case isDisconnect(err):
		return fmt.Errorf("%w: %w", driver.ErrUnreachable, err)
	case isAny(err, zk.ErrClosing):
		return fmt.Errorf("%w: %w", driver.ErrClosed, err)
	case isAny(err, zk.ErrNoAuth, zk.ErrAuthFailed):
		return fmt.Errorf("%w: %w: grant create, read, write and delete on the root, and set WithAuth",
			driver.ErrDenied, err)
	case isAny(err, zk.ErrInvalidACL):
		return fmt.Errorf("%w: %w: correct WithACL", driver.ErrMisconfigured, err)
	case isAny(err, zk.ErrNoChildrenForEphemerals):
		return fmt.Errorf("%w: %w: choose a root with WithRoot that is not ephemeral", driver.ErrMisconfigured, err)
	}
	return err
}

// cutOff is classify for a call that follows one that took effect, so it never says "not sent".
func cutOff(err error) error {
	if isDisconnect(err) || errors.Is(err, driver.ErrNotSent) {
		return fmt.Errorf("%w: %v", driver.ErrUnreachable, err)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return classify(err)
}
