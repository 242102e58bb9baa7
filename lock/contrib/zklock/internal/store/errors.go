package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// IsDisconnect reports whether a call was cut off: it may or may not have taken effect.
func IsDisconnect(err error) bool {
	return IsAny(err, zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved)
}

// IsAny reports whether err matches one of the targets.
func IsAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// Classify adds the class of a client error, and [driver.ErrNotSent] if the request was not sent.
func Classify(err error) error {
	switch {
	case err == nil:
		return nil
	case IsAny(err, zk.ErrNoServer):
		return fmt.Errorf("%w: %w: %w", driver.ErrNotSent, driver.ErrUnreachable, err)
	case IsDisconnect(err):
		return fmt.Errorf("%w: %w", driver.ErrUnreachable, err)
	case IsAny(err, zk.ErrClosing):
		return fmt.Errorf("%w: %w", driver.ErrClosed, err)
	case IsAny(err, zk.ErrNoAuth, zk.ErrAuthFailed):
		return fmt.Errorf("%w: %w: grant create, read, write and delete on the root, and set WithAuth",
			driver.ErrDenied, err)
	case IsAny(err, zk.ErrInvalidACL):
		return fmt.Errorf("%w: %w: correct WithACL", driver.ErrMisconfigured, err)
	case IsAny(err, zk.ErrNoChildrenForEphemerals):
		return fmt.Errorf("%w: %w: choose a root with WithRoot that is not ephemeral", driver.ErrMisconfigured, err)
	}
	return err
}

// CutOff is Classify for a call that follows one that took effect, so it never says "not sent".
func CutOff(err error) error {
	if IsDisconnect(err) || errors.Is(err, driver.ErrNotSent) {
		return fmt.Errorf("%w: %v", driver.ErrUnreachable, err)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return Classify(err)
}
