package driver

import (
	"context"
	"errors"
	"fmt"
)

// Capabilities are what a [Node] can do beside locks.
type Capabilities struct {
	Peek   bool // the node answers [PeekRequest]s
	Revoke bool // the node answers [RevokeRequest]s
	Keep   bool // the node answers an [ExtendRequest] with Final

	// Readers: the node knows the modes Read and Write. The engine sends no other mode than Exclusive otherwise.
	// What such a node does beside the rest of this package:
	//
	//   - It keeps readers of a key apart, each with its token, counter, holder and expiry. Nobody else's request
	//     shortens the time of a reader.
	//   - It grants Read unless the key has another holder, is kept for a waiter, or a bar with an earlier ticket than
	//     the reader's stands there. A reader without a ticket has come later than every bar. The counter stays as it
	//     is, and the reply is that counter. A node without a counter starts it at the floor first, as for any grant. A
	//     node that is always alone in its set may count on instead, so that each reader has a fence of its own.
	//   - It grants Write and Exclusive only if there is no reader.
	//   - Extend of a reader puts a lost one back only if no other holder is there, nothing is kept for a waiter and no
	//     bar stands.
	//   - A release names the next waiter: one writer if nobody holds the key now, or all readers at the head of the
	//     queue.
	Readers bool

	// Slots: the node remembers how many slots a semaphore has. It compares the [Semaphore] of each request with what
	// it knows; other nodes ignore it.
	//
	//   - If it knows no number, it takes the request's, once it may vote. A node in quarantine takes none.
	//   - It refuses an acquire with another number, without any effect. The reply to each acquire has the number that
	//     it knows.
	//   - It refuses to extend a slot that the semaphore does not have any more.
	//
	// It may forget the number once no acquire, renewal or Resize has named it for Semaphore.Keep, and not before half
	// of that. No lock of the semaphore is left on the node by then.
	Slots bool

	// SlotQueue: the node has one queue for all slots of a semaphore. Only a node with Slots may have it. The engine
	// then sets Semaphore.OneQueue.
	//
	//   - Waiters join the queue of the semaphore, whichever slot they ask for. Each slot is kept for a waiter by
	//     itself.
	//   - A release keeps its slot for the first in the queue, and names that waiter with the key of the slot.
	//   - A refusal of an acquire with Semaphore.Any names a waiter for each slot that is free and kept for nobody, the
	//     caller included, which is not notified: see AcquireReply.Free.
	//   - Leave passes on all slots that are kept for the waiter.
	SlotQueue bool
}

// LockOnly is embedded by a [Node] that has none of the [Capabilities], or only those whose methods it overrides.
type LockOnly struct{}

// Capabilities returns none.
func (LockOnly) Capabilities() Capabilities { return Capabilities{} }

// Warm does nothing.
func (LockOnly) Warm(context.Context) error { return nil }

// Peek answers with an error that matches errors.ErrUnsupported.
func (LockOnly) Peek(_ Call, _ *PeekRequest, to Answer[PeekReply]) { to.Answer(PeekReply{}, errNoPeek) }

// Revoke answers with an error that matches errors.ErrUnsupported.
func (LockOnly) Revoke(_ Call, _ *RevokeRequest, to Answer[RevokeReply]) {
	to.Answer(RevokeReply{}, errNoRevoke)
}

// Resize answers with an error that matches errors.ErrUnsupported.
func (LockOnly) Resize(_ Call, _ *ResizeRequest, to Answer[ResizeReply]) { to.Answer(0, errNoSlots) }

// BlockingLockOnly is [LockOnly] for a [BlockingNode].
type BlockingLockOnly struct{}

// Capabilities returns none.
func (BlockingLockOnly) Capabilities() Capabilities { return Capabilities{} }

// Warm does nothing.
func (BlockingLockOnly) Warm(context.Context) error { return nil }

// Peek fails with an error that matches errors.ErrUnsupported.
func (BlockingLockOnly) Peek(context.Context, PeekRequest) (PeekReply, error) {
	return PeekReply{}, errNoPeek
}

// Revoke fails with an error that matches errors.ErrUnsupported.
func (BlockingLockOnly) Revoke(context.Context, RevokeRequest) (RevokeReply, error) {
	return RevokeReply{}, errNoRevoke
}

// Resize fails with an error that matches errors.ErrUnsupported.
func (BlockingLockOnly) Resize(context.Context, ResizeRequest) (ResizeReply, error) {
	return 0, errNoSlots
}

var (
	errNoPeek = fmt.Errorf("%w: this driver cannot read who holds a lock without asking for it",
		errors.ErrUnsupported)
	errNoRevoke = fmt.Errorf("%w: this driver cannot revoke a lease: stop its holder instead", errors.ErrUnsupported)
	errNoSlots  = fmt.Errorf("%w: this driver does not keep the number of slots of a semaphore", errors.ErrUnsupported)
)
