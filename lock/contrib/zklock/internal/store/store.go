// Package store is a ZooKeeper ensemble as the protocol of package claims needs it: one session that outlives connections
// and servers, calls that are made again after a lost connection, and errors with their class and cause.
package store

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// RetryEvery is the pause after a call that was cut off.
const RetryEvery = 50 * time.Millisecond

// Store is an ensemble.
type Store struct {
	Now        func() time.Duration // the clock that validity is counted by
	Client     *Client
	Session    *Session
	Background *claimlist.Background
}

// New returns an ensemble with one session. timeout is that of a call.
func New(servers []string, session, timeout time.Duration, o Options, now func() time.Duration) (*Store, error) {
	s, err := connect(servers, session, timeout, o)
	if err != nil {
		return nil, err
	}
	return &Store{Now: now, Client: s.client, Session: s, Background: claimlist.NewBackground()}, nil
}

// Repeat makes a call again after a lost connection, until shortly before the deadline. again says that a call was cut
// off: it may have taken effect.
func (s *Store) Repeat(ctx context.Context, call func() error) (again bool, err error) {
	for {
		if err = call(); !IsDisconnect(err) || s.reconnect(ctx) != nil {
			break
		}
		again = true
	}
	if again {
		return true, CutOff(err)
	}
	return false, Classify(err)
}

// reconnect waits for a session after a call was cut off, until shortly before the deadline.
func (s *Store) reconnect(ctx context.Context) error {
	return intime(ctx, func(ctx context.Context) error {
		select {
		case <-time.After(RetryEvery): // the client may not know yet
		case <-ctx.Done():
		}
		return s.Session.Await(ctx)
	})
}

// Within waits for a session, then runs a client call, until ctx ends: the client has no contexts. If the
// answer comes later, it goes to late.
func Within[T any](
	ctx context.Context, s *Store, await func(context.Context) error, ask func() (T, error), late func(),
) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if err := intime(ctx, await); err != nil {
		return none, err
	}
	answers := make(chan answer)
	started := s.Background.Run(func() {
		var a answer
		a.value, a.err = ask()
		select {
		case answers <- a:
		case <-ctx.Done():
			if late != nil {
				late()
			}
		}
	})
	if !started {
		return none, fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrClosed)
	}
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return none, driver.ErrTimeout
	}
}

// intime ends slightly before the deadline, so that the cause is reported before the call counts as
// unanswered.
func intime(ctx context.Context, await func(context.Context) error) error {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		soon, cancel := context.WithTimeout(ctx, left-left/8)
		defer cancel()
		ctx = soon
	}
	return await(ctx)
}
