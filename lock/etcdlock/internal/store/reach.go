package store

import (
	"context"
	"fmt"
	"slices"
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

// Reachable fails at once if no member takes connections. It waits while a connection is being made.
// If it fails, nothing was sent.
func (s *Store) Reachable(ctx context.Context) error {
	if s.client.ActiveConnection().GetState() == connectivity.Ready {
		return nil
	}
	s.wakeUp()
	ctx, cancel := portion(ctx, 1)
	defer cancel()
	return s.knock(ctx)
}

// Warm connects with a request that a majority answers. It waits no longer than a call, and not at all if no
// member takes connections.
func (s *Store) Warm(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	if err := s.knock(ctx); err != nil {
		return err
	}
	resp, err := s.client.Get(ctx, key)
	if err == nil {
		s.History.noteTerm(resp.Header.RaftTerm)
	}
	return s.Fail(err)
}

// wakeUp resets the back-off of a client that could not connect.
func (s *Store) wakeUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.woken) >= wakeEvery {
		s.woken = now
		s.client.ActiveConnection().ResetConnectBackoff()
	}
}

// knock connects to a member, or returns why it cannot. It opens a stream and sends nothing. The
// client retries all other calls until their deadline, and loses the cause.
func (s *Store) knock(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := s.leases.LeaseKeepAlive(ctx)
	if err == nil || s.client.ActiveConnection().GetState() == connectivity.Ready {
		return nil // the call itself reports any other problem
	}
	if codeOf(err) == codes.Unavailable {
		return fmt.Errorf("%w: %w", driver.ErrNotSent, refused(status.Convert(err).Message()))
	}
	return fmt.Errorf("%w: %w", driver.ErrNotSent, s.unreachable(err))
}

// unreachable is the error of a call that had no connection until its deadline.
func (s *Store) unreachable(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), askAgain)
	defer cancel()
	if _, again := s.leases.LeaseKeepAlive(ctx); again != nil && codeOf(again) == codes.Unavailable {
		return refused(status.Convert(again).Message())
	}
	return driver.WithRemedy(fmt.Errorf("%w: no endpoint has answered in time%s: %w", driver.ErrUnreachable, s.otherCause(),
		err), remedy)
}

// otherCause is another possible cause: the client does not say why it cannot connect.
func (s *Store) otherCause() string {
	if slices.ContainsFunc(s.client.Endpoints(), func(e string) bool { return strings.HasPrefix(e, "https://") }) {
		return ", or clientv3.Config.TLS trusts none of their certificates"
	}
	return ""
}

// Fail is like Classify, but distinguishes a member that does not answer from one that cannot be connected to. The client
// reports both as a timeout.
func (s *Store) Fail(err error) error {
	err = Classify(err)
	if driver.ClassOf(err) != driver.Timeout {
		return err
	}
	if state := s.client.ActiveConnection().GetState(); state == connectivity.Connecting ||
		state == connectivity.TransientFailure {
		return s.unreachable(err)
	}
	return err
}

// NotSent is Fail for a failure before anything was written.
func (s *Store) NotSent(err error) error { return fmt.Errorf("%w: %w", driver.ErrNotSent, s.Fail(err)) }

const remedy = `check the endpoints, and the members with "lockscope doctor"`

func refused(cause string) error {
	if strings.Contains(cause, "x509:") || strings.Contains(cause, "tls:") {
		return fmt.Errorf("%w: no endpoint takes connections: %s: correct clientv3.Config.TLS",
			driver.ErrUnreachable, cause)
	}
	return driver.WithRemedy(fmt.Errorf("%w: no endpoint takes connections: %s", driver.ErrUnreachable, cause), remedy)
}
