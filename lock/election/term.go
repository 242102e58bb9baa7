package election

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Term is the leadership of one process for a limited time. Its methods are safe for concurrent use. Resign of
// the zero value fails with lock.ErrNotHeld; its other methods cannot be used.
type Term struct {
	lease lock.Lease
	ctx   context.Context
}

// Number returns the number of the term, the fencing token of its lease: unique and rising for each name. It is 0 if
// the nodes keep no counters; see [lock.Fenced].
func (t Term) Number() uint64 { return t.lease.Fence() }

// Name returns the name of the election.
func (t Term) Name() string { return t.lease.Resource() }

// Context is cancelled when the term ends. Its context.Cause is lock.ErrReleased after Resign, lock.ErrLost if renewal
// failed or the nodes gave the leadership to another candidate, lock.ErrClosed, or the cause of the parent's end.
func (t Term) Context() context.Context { return t.ctx }

// Remaining returns the validity left; zero or less once the term is over.
func (t Term) Remaining() time.Duration { return t.lease.Remaining() }

// Resign ends the term and lets the next candidate lead. Stop the work of the leader first. Resign returns nil if the
// nodes released the lease, and *lock.ReleaseError if it was over already, or if too few nodes answered to know: the
// term is over here in any case, releasing goes on in the background, and the next term begins at the latest when
// validity has ended on the nodes. ctx bounds only the wait for answers: give another context than the term's, which ends
// first. Further calls return the first result.
func (t Term) Resign(ctx context.Context) error {
	if t.lease == nil {
		return fmt.Errorf("election: %w: this is no term: it comes from Campaign or Run", lock.ErrNotHeld)
	}
	return t.lease.Release(ctx)
}

// ended returns why the lease of the term has ended: lock.ErrReleased if the leader has resigned; nil if it has not ended.
func (t Term) ended() error { return context.Cause(t.lease.Context()) }
