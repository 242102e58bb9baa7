package lock

import (
	"context"
	"time"
)

// Locker acquires leases. [Engine] is one; decorators wrap one.
type Locker interface {
	// Acquire waits for resource until ctx ends or the wait budget is spent, and
	// returns a lease that is renewed until it is released, until ctx ends or
	// until its maximum hold.
	//
	// ctx is the lease's parent: when ctx ends, so does the lease. To bound only
	// the waiting, use [MaxWait] or [NoWait].
	//
	// It fails with *HeldError if the resource is held and waiting is over or not
	// wanted; with *QuorumError if too few nodes may vote, at once where waiting
	// cannot help (nodes in quarantine, misconfigured or denying access); with
	// *WaitError joining either with the reason why a wait was cut short; and with
	// ErrInvalidResource, ErrInvalidTTL or ErrInvalidOption before anything is
	// sent. Concurrent calls are safe; calls for one resource are served in order.
	Acquire(ctx context.Context, resource string, opts ...AcquireOption) (Lease, error)
}

// Lease is a lock held for a limited time. All methods are safe for concurrent use.
type Lease interface {
	// Resource is the name the lease was acquired for.
	Resource() string

	// Context descends from the context given to Acquire and is cancelled when
	// the lease ends. context.Cause says why: ErrReleased, ErrLost, ErrMaxHold,
	// ErrClosed, or the parent's own cause.
	Context() context.Context

	// Fence is the fencing token: unique per resource, and increasing from one grant
	// to the next; a lease handed over inside a process has the next token of its
	// grant's. A store that rejects lower tokens than it has
	// seen is safe whatever happens to clocks and pauses.
	Fence() uint64

	// Remaining is the validity left; zero or less once the lease is over. It is
	// measured on a clock that counts suspended time.
	Remaining() time.Duration

	// Extend renews the lease for its full TTL from now. It is meant for leases
	// acquired with NoRenew, and harmless beside automatic renewal. It fails with
	// ErrLost or the other causes of Context if the lease is over, and with
	// *QuorumError if too few nodes answered, or with the error of ctx if that ended
	// first: the lease then stays valid for what Remaining says, and Extend may be
	// tried again.
	Extend(ctx context.Context) error

	// Release gives the lock back and cancels Context. It asks every node even if
	// ctx has ended; ctx only bounds how long the answer is waited for. It
	// returns nil if the nodes let the lease go, else a *ReleaseError saying
	// whether it had expired, has another owner, or could not be told: a quorum's
	// word that it did not have the lease outweighs a node that let go of it. If the lock
	// is handed over to the next caller of this process, no node is asked. Further
	// calls do nothing and return the first one's result.
	Release(ctx context.Context) error
}
