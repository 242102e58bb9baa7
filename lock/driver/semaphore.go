package driver

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// SlotKeeper is an optional interface of a [Node] that remembers how many slots a semaphore has. Such
// a node compares the [Semaphore] of each request with what it knows:
//
//   - If it knows no number, it takes the request's, once it may vote. A node in quarantine takes none.
//   - It refuses an acquire with another number, without any effect. The reply to each acquire has the number that it
//     knows.
//   - It refuses to extend a slot that the semaphore does not have any more.
//
// It may forget the number once no acquire, renewal or Resize has named it for Semaphore.Keep, and not
// before half of that. No lock of the semaphore is left on the node by then.
//
// Nodes that are no SlotKeeper ignore the Semaphore of a request.
type SlotKeeper interface {
	// Resize reads the number of slots, and changes it if the request says to. It may run beside
	// other calls, and while the node may not vote.
	Resize(call Call, req *ResizeRequest, to Answer[ResizeReply])
}

// BlockingSlotKeeper is SlotKeeper for a [BlockingNode]. A node without it answers with an error that
// matches errors.ErrUnsupported.
type BlockingSlotKeeper interface {
	Resize(ctx context.Context, req ResizeRequest) (ResizeReply, error)
}

// Semaphore is what the request for a slot says of its semaphore.
type Semaphore struct {
	Key   string // prefix and name
	Slot  int    // that is asked for, from 0
	Slots int    // how many there are
	Keep  time.Duration

	OneQueue bool // the queue is that of the semaphore, not that of the slot; for a [SlotQueuer] only
	Any      bool // the caller waits for any of the slots; with OneQueue only
}

// SlotQueuer is an optional interface of a [SlotKeeper] that has one queue for all slots of a semaphore. The requests
// of an engine whose nodes all are SlotQueuers have Semaphore.OneQueue set. Then:
//
//   - Waiters join the queue of the semaphore, whichever slot they ask for. Each slot is kept for a waiter by itself.
//   - A release keeps its slot for the first in the queue, and names that waiter with the key of the slot.
//   - A refusal of an acquire with Semaphore.Any names a waiter for each slot that is free and kept for nobody, the
//     caller included, which is not notified: see AcquireReply.Free.
//   - Leave passes on all slots that are kept for the waiter.
type SlotQueuer interface {
	// QueuesSlots returns nil, or an error that matches errors.ErrUnsupported. It sends nothing.
	QueuesSlots() error
}

// QueueKey is the key of the lock whose queue is that of the semaphore. No lock of a construct has it.
func (s *Semaphore) QueueKey() string { return s.Key + "#*" }

// SlotKey is the key of a slot of the semaphore.
func (s *Semaphore) SlotKey(slot int) string { return s.Key + "#" + strconv.Itoa(slot) }

// ResizeRequest asks for the number of slots of a semaphore, or changes it.
type ResizeRequest struct {
	Key  string // as in [Semaphore]
	From int    // the number to replace
	To   int    // the new number, for a node that knows From or none; 0 changes nothing
	Keep time.Duration
}

// ResizeReply is how many slots a node knew of before the request; 0 if it knew none.
type ResizeReply int

// SlotsError means that a node refused an acquire because it knows another number of slots.
type SlotsError struct {
	Slots int // of the request
	Known int // to the node
}

func (e *SlotsError) Error() string {
	return fmt.Sprintf("knows of %d slots, not %d", e.Known, e.Slots)
}

// KnownSlots returns Known, for package semaphore, which recognizes such errors without importing this
// package.
func (e *SlotsError) KnownSlots() int { return e.Known }
