package store

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lockscope/lockscope/lock/driver"
)

// Classify adds the class of a client error, and the remedy.
func Classify(err error) error {
	if err == nil || driver.Describe(err) != "" {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", driver.ErrTimeout, err)
	}
	switch err = rpctypes.Error(err); {
	case is(err, rpctypes.ErrNoSpace):
		return fmt.Errorf(`%w: %w: compact, defragment and run "etcdctl alarm disarm", or raise `+
			"--quota-backend-bytes", driver.ErrMisconfigured, err)
	case is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("%w: %w: grant the user's role readwrite on the lock prefix and on the fence key",
			driver.ErrDenied, err)
	case is(err, rpctypes.ErrAuthFailed, rpctypes.ErrInvalidAuthToken, rpctypes.ErrUserEmpty, rpctypes.ErrUserNotFound,
		rpctypes.ErrAuthNotEnabled):
		return fmt.Errorf("%w: %w: correct the user and password in clientv3.Config", driver.ErrDenied, err)
	case is(err, rpctypes.ErrNoLeader, rpctypes.ErrLeaderChanged, rpctypes.ErrNotLeader,
		rpctypes.ErrTimeoutDueToLeaderFail,
		rpctypes.ErrTimeoutDueToConnectionLost, rpctypes.ErrTimeout):
		return driver.WithRemedy(fmt.Errorf("%w: %w", driver.ErrUnreachable, err),
			`check the members with "lockscope doctor"; a majority must run and reach each other`)
	case is(err, rpctypes.ErrTooManyRequests):
		return fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	case is(err, rpctypes.ErrCorrupt):
		return fmt.Errorf("%w: %w", driver.ErrMisconfigured, err)
	}
	return classifyCode(err)
}

func is(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// classifyCode goes by the gRPC code, for errors that etcd did not name.
func classifyCode(err error) error {
	switch codeOf(err) {
	case codes.DeadlineExceeded:
		return fmt.Errorf("%w: %w", driver.ErrTimeout, err)
	case codes.Canceled:
		return fmt.Errorf("%w: the client was closed before the locker: %w", driver.ErrClosed, err)
	case codes.Unavailable:
		return fmt.Errorf("%w: %w", driver.ErrUnreachable, err)
	case codes.Unimplemented:
		return fmt.Errorf("%w: %w: use endpoints of an etcd that speaks v3", driver.ErrMisconfigured, err)
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("%w: %w", driver.ErrDenied, err)
	}
	return err
}

func codeOf(err error) codes.Code {
	var known rpctypes.EtcdError
	if errors.As(err, &known) {
		return known.Code()
	}
	return status.Code(err)
}
