package etcdlock

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/lockscope/lockscope/lock/driver"
)

const (
	// wakeEvery is how often the client's back-off is reset. By itself the back-off grows to two minutes.
	wakeEvery = 500 * time.Millisecond
	// askAgain bounds the call that only asks the client why it has no connection.
	askAgain = 50 * time.Millisecond
)

// reachable fails at once if no member takes connections. It waits while a connection is being made.
// If it fails, nothing was sent.
func (n *node) reachable(ctx context.Context) error {
	if n.client.ActiveConnection().GetState() == connectivity.Ready {
		return nil
	}
	n.wakeUp()
	ctx, cancel := portion(ctx, 1)
	defer cancel()
	return n.knock(ctx)
}

// wakeUp resets the back-off of a client that could not connect.
func (n *node) wakeUp() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); now.Sub(n.woken) >= wakeEvery {
		n.woken = now
		n.client.ActiveConnection().ResetConnectBackoff()
	}
}

// knock connects to a member, or returns why it cannot. It opens a stream and sends nothing. The
// client retries all other calls until their deadline, and loses the cause.
func (n *node) knock(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := n.leases.LeaseKeepAlive(ctx)
	if err == nil || n.client.ActiveConnection().GetState() == connectivity.Ready {
		return nil // the call itself reports any other problem
	}
	if codeOf(err) == codes.Unavailable {
		return fmt.Errorf("%w: %w", driver.ErrNotSent, refused(status.Convert(err).Message()))
	}
	return fmt.Errorf("%w: %w", driver.ErrNotSent, n.unreachable(err))
}

// unreachable is the error of a call that had no connection until its deadline.
func (n *node) unreachable(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), askAgain)
	defer cancel()
	if _, again := n.leases.LeaseKeepAlive(ctx); again != nil && codeOf(again) == codes.Unavailable {
		return refused(status.Convert(again).Message())
	}
	return driver.WithRemedy(fmt.Errorf("%w: no endpoint has answered in time%s: %w", driver.ErrUnreachable, n.otherCause(),
		err), remedy)
}

const remedy = `check the endpoints, and the members with "lockscope doctor"`

func refused(cause string) error {
	if strings.Contains(cause, "x509:") || strings.Contains(cause, "tls:") {
		return fmt.Errorf("%w: no endpoint takes connections: %s: correct clientv3.Config.TLS",
			driver.ErrUnreachable, cause)
	}
	return driver.WithRemedy(fmt.Errorf("%w: no endpoint takes connections: %s", driver.ErrUnreachable, cause), remedy)
}
