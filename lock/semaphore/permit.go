package semaphore

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Permit is one of the k permits, held for a limited time. Its methods are safe for concurrent use.
type Permit struct {
	lease lock.Lease
	slot  int
}

// Slot returns the number of the slot, from 0 to k-1.
func (p *Permit) Slot() int { return p.slot }

// Fence returns the fencing token. Tokens are unique and rise for each slot: they are not comparable between slots. It is
// 0 if the nodes keep no counters; see [lock.Fenced].
func (p *Permit) Fence() uint64 { return p.lease.Fence() }

// Context descends from the context given to Acquire, and is cancelled when the permit ends. Its context.Cause is that
// of [lock.Lease].Context. A permit that is lost is one slot: the other permits are not concerned.
func (p *Permit) Context() context.Context { return p.lease.Context() }

// Remaining returns the validity left; zero or less once the permit is over.
func (p *Permit) Remaining() time.Duration { return p.lease.Remaining() }

// Extend renews the permit for its full TTL from now, as [lock.Lease].Extend does. Permits acquired with lock.NoRenew
// need it.
func (p *Permit) Extend(ctx context.Context) error { return p.lease.Extend(ctx) }

// Release gives the permit back and cancels Context. ctx bounds only how long it waits for answers. Release returns nil
// if the nodes released the slot, else the *lock.ReleaseError of the slot. Further calls return the first result.
func (p *Permit) Release(ctx context.Context) error { return p.lease.Release(ctx) }
