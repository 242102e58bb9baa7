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
	// wakeEvery is how often the client is told to connect at once. By itself it waits for longer after each
	// failure, two minutes in the end.
	wakeEvery = 500 * time.Millisecond
	// askAgain is what it may take to hear why there is no connection, which the client knows already.
	askAgain = 50 * time.Millisecond
)

// reachable fails at once where no member takes connections. Where they are being made it waits.
// Nothing was sent if it fails.
func (n *node) reachable(ctx context.Context) error {
	if n.client.ActiveConnection().GetState() == connectivity.Ready {
		return nil
	}
	n.wakeUp()
	ctx, cancel := portion(ctx, 1)
	defer cancel()
	return n.knock(ctx)
}

// wakeUp ends the pause of a client that could not connect.
func (n *node) wakeUp() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); now.Sub(n.woken) >= wakeEvery {
		n.woken = now
		n.client.ActiveConnection().ResetConnectBackoff()
	}
}

// knock connects to a member, or says why none can be connected to. It opens a stream and sends
// nothing on it: other calls the client repeats until their time is over, and forgets the cause.
func (n *node) knock(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := n.leases.LeaseKeepAlive(ctx)
	if err == nil || n.client.ActiveConnection().GetState() == connectivity.Ready {
		return nil // what else may be wrong the call itself will say
	}
	if codeOf(err) == codes.Unavailable {
		return fmt.Errorf("%w: %w", driver.ErrNotSent, refused(status.Convert(err).Message()))
	}
	return fmt.Errorf("%w: %w", driver.ErrNotSent, n.unreachable(err))
}

// unreachable is an error of a call in whose time there was no connection.
func (n *node) unreachable(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), askAgain)
	defer cancel()
	if _, again := n.leases.LeaseKeepAlive(ctx); again != nil && codeOf(again) == codes.Unavailable {
		return refused(status.Convert(again).Message())
	}
	return fmt.Errorf("%w: no endpoint has answered in time%s%s: %w", driver.ErrUnreachable, n.doubt(), remedy, err)
}

const remedy = ": check that the endpoints are right and that a majority of the members runs, with lockscope doctor"

func refused(cause string) error {
	if strings.Contains(cause, "x509:") || strings.Contains(cause, "tls:") {
		return fmt.Errorf("%w: no endpoint takes connections: %s: see clientv3.Config.TLS",
			driver.ErrUnreachable, cause)
	}
	return fmt.Errorf("%w: no endpoint takes connections: %s%s", driver.ErrUnreachable, cause, remedy)
}
