package lock

import (
	"context"
	"time"
)

// Locker acquires leases. Drivers such as package redlock return one, and decorators wrap one.
// It is safe for concurrent use; calls for one resource are served in order.
type Locker interface {
	// Acquire waits until it holds resource, and returns the lease. It stops waiting
	// when ctx ends or the wait budget is spent.
	//
	// The lease is renewed until it is released, until ctx ends, or until its maximum
	// hold. ctx is the parent of the lease: when ctx ends, so does the lease. To bound
	// only the wait, use [MaxWait] or [NoWait].
	//
	// Acquire fails with
	//   - *HeldError if another owner holds the resource, and the call does not wait (any longer);
	//   - *QuorumError if too few nodes vote. It does not wait where waiting cannot
	//     help: for nodes that are in quarantine, misconfigured or deny access;
	//   - *WaitError if the wait was cut short. It wraps the reason and the last
	//     attempt's error, often one of the two above;
	//   - *DeadlockError if the call asked for it with [FailOnDeadlock];
	//   - ErrInvalidResource, ErrInvalidTTL or ErrInvalidOption if an argument is
	//     invalid: before anything is sent, except for [Fenced];
	//   - ErrTooLate if a quorum granted the lock too slowly;
	//   - ErrClosed if the engine is closed.
	Acquire(ctx context.Context, resource string, opts ...AcquireOption) (Lease, error)
}

// Lease is a lock held for a limited time. All methods are safe for concurrent use.
type Lease interface {
	// Resource returns the name that was given to Acquire.
	Resource() string

	// Context returns a child of the context given to Acquire. It is cancelled when the
	// lease ends. Its context.Cause is ErrReleased, ErrMaxHold, ErrClosed, the parent's
	// own cause, or an error that matches ErrLost and says when and why the lease was lost.
	Context() context.Context

	// Fence returns the fencing token. Tokens are unique per resource and increase
	// from one grant to the next. A lease passed on inside a process gets the next
	// token reserved with its grant. A store that rejects tokens lower than the highest it has
	// seen is safe, whatever happens to clocks and processes. Fence returns 0 if the
	// nodes keep no counters; see [Fenced].
	Fence() uint64

	// Remaining returns the validity left; zero or less once the lease is over. Time in
	// suspend counts.
	Remaining() time.Duration

	// Extend renews the lease for its full TTL from now. Leases acquired with NoRenew
	// need it; calling it beside automatic renewal is harmless.
	//
	// It fails with ErrLost, or another cause of Context, if the lease is over. It fails
	// with *QuorumError if too few nodes answered, and with the error of ctx if ctx ended
	// first. After those two the lease stays valid for as long as Remaining returns, and
	// you may call Extend again.
	Extend(ctx context.Context) error

	// Release gives the lock back and cancels Context. It asks every node, even if ctx
	// has ended: ctx bounds only how long Release waits for the answers. If the lock is
	// handed over to the next caller of this process, no node is asked.
	//
	// It returns nil if the nodes released the lease. Otherwise it returns a
	// *ReleaseError: the lease had expired, another owner holds the resource, or too few
	// nodes answered to know. If a quorum did not hold the lease, the release fails, even
	// if another node released it. Further calls do nothing and return the first result.
	Release(ctx context.Context) error
}
