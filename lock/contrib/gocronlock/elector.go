package gocronlock

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
)

// Elector decides which process runs the jobs, for gocron.WithDistributedElector. Its methods are safe for concurrent
// use. The zero Elector never leads.
type Elector struct {
	term atomic.Pointer[election.Term]
}

// Run campaigns for the leadership of name until ctx ends, and then returns why; see election.Run. While it leads,
// IsLeader returns nil. Jobs that run when the term is lost go on.
//
// End ctx after the scheduler has shut down: gocron then waits for its jobs, and no other process runs them
// meanwhile.
func (e *Elector) Run(ctx context.Context, locker lock.Locker, name string, opts ...election.Option) error {
	return election.Run(ctx, locker, name, func(ctx context.Context, term election.Term) error {
		e.term.Store(&term)
		defer e.term.CompareAndSwap(&term, nil)
		<-ctx.Done()
		return context.Cause(ctx)
	}, opts...)
}

// IsLeader returns nil if this process leads, without asking a node.
func (e *Elector) IsLeader(context.Context) error {
	term := e.term.Load()
	if term == nil {
		return fmt.Errorf("gocronlock: %w by this process: another one leads, or none", lock.ErrNotHeld)
	}
	return term.Context().Err()
}
