package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/lockscope/lockscope/lock/driver"
)

// errGone means that a claim is no longer in its directory.
var errGone = errors.New("the claim is gone")

// errNoTerm means that no two answers in a row came from the same leader's term.
var errNoTerm = driver.WithRemedy(fmt.Errorf("%w: the leader keeps changing", driver.ErrUnreachable),
	`check the members with "lockscope doctor"`)

// fail is like classify, but distinguishes a member that does not answer from one that cannot be
// connected to. The client reports both as a timeout.
func (n *node) fail(err error) error {
	err = classify(err)
	if driver.ClassOf(err) != driver.Timeout {
		return err
	}
	if state := n.client.ActiveConnection().GetState(); state == connectivity.Connecting ||
		state == connectivity.TransientFailure {
		return n.unreachable(err)
	}
	return err
}

// otherCause is another possible cause: the client does not say why it cannot connect.
func (n *node) otherCause() string {
	if slices.ContainsFunc(n.client.Endpoints(), func(e string) bool { return strings.HasPrefix(e, "https://") }) {
		return ", or clientv3.Config.TLS trusts none of their certificates"
	}
	return ""
}

// classify adds the class of a client error, and the remedy.
func classify(err error) error {
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
