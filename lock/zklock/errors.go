package zklock

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// isDisconnect reports that a call was cut off, and may or may not have taken effect.
func isDisconnect(err error) bool {
	return isAny(err, zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved)
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// classify says what kind of failure an error of the client is, and whether the request
// was sent.
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
		return fmt.Errorf("%w: %w: the root needs create, read, write and delete: WithAuth, WithACL", driver.ErrDenied,
			err)
	case isAny(err, zk.ErrInvalidACL, zk.ErrNoChildrenForEphemerals):
		return fmt.Errorf("%w: %w: WithACL, WithRoot", driver.ErrMisconfigured, err)
	}
	return err
}

// cutOff is classify for a call before which another has taken effect.
func cutOff(err error) error {
	if isDisconnect(err) || errors.Is(err, driver.ErrNotSent) {
		return fmt.Errorf("%w: %v", driver.ErrUnreachable, err)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return classify(err)
}
