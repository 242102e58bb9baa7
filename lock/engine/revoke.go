package engine

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/revoke"
)

// Revoke keeps the holder's lease from being renewed, whichever process has it. The lease stays valid until the
// holder's timer ends it, or until the holder's next renewal finds out. Only then can the resource be acquired
// again: by anybody, for Revoke bars nobody. The cause of the lease's end is a *lock.RevokedError that matches
// lock.ErrLost. The lock stays on the nodes until the holder releases it or its TTL is over, so that its work has
// time to stop.
//
// Revoke first asks all nodes who holds the resource, then marks that grant on all of them. It takes two node
// timeouts at most, and the time of req.Confirm. A lease that was handed over inside its process meanwhile is on the
// same grant and ends, too. A second Revoke of a lease changes nothing; it returns the first one's mark. Revoke may
// run beside other calls. Traces do not report it.
//
// For the name of a semaphore's slot, NAME#3, Revoke ends that permit. The writer of a read/write lock is a holder
// as any other.
//
// Revoke fails with:
//   - lock.ErrInvalidResource and lock.ErrInvalidOption, before any node is asked;
//   - lock.ErrNotHeld if nobody holds the resource;
//   - errors.ErrUnsupported if readers hold it, for which there is RevokeReaders, if another library does, or if the
//     driver cannot revoke: stop the holder;
//   - *lock.QuorumError if too few nodes answered or were marked. The holder may then be renewed: call Revoke again;
//   - the error of req.Confirm, before any node is marked;
//   - the error of ctx if that ends first, and lock.ErrClosed after Close. Nodes may be marked then.
func (e *Engine) Revoke(ctx context.Context, resource string, req lock.RevokeRequest) (lock.Revocation, error) {
	if err := lock.ValidateResource(resource); err != nil {
		return lock.Revocation{}, err
	}
	if err := req.Validate(); err != nil {
		return lock.Revocation{}, err
	}
	return revoke.Do(ctx, e.Set, resource, req)
}

// RevokeReaders is Revoke for the readers of a read/write lock: for all of them, or for those of one instance. None of
// them can renew its lease from then on; each learns who revoked it and why. A writer that waits gets the lock when
// the last of them has ended, if no other reader is left. Like Revoke it bars nobody: readers that come later are kept
// out only by a writer that waits.
//
// It marks every selected reader that any node names. A reader that is granted between the two rounds is not marked:
// call RevokeReaders again. The times, a second call and concurrent calls are as for Revoke.
//
// RevokeReaders fails with:
//   - lock.ErrInvalidResource and lock.ErrInvalidOption, before any node is asked;
//   - lock.ErrNotHeld if no selected reader holds the resource, or if all of them released it meanwhile;
//   - errors.ErrUnsupported if the driver cannot revoke readers: stop their processes;
//   - *lock.QuorumError if too few nodes answered or were marked. The readers may then be renewed: call it again;
//   - the error of req.Confirm, before any node is marked;
//   - the error of ctx if that ends first, and lock.ErrClosed after Close. Nodes may be marked then.
func (e *Engine) RevokeReaders(
	ctx context.Context, resource string, req lock.RevokeReadersRequest,
) (lock.ReadersRevocation, error) {
	if err := lock.ValidateResource(resource); err != nil {
		return lock.ReadersRevocation{}, err
	}
	if err := req.Validate(); err != nil {
		return lock.ReadersRevocation{}, err
	}
	return revoke.Readers(ctx, e.Set, resource, req)
}
