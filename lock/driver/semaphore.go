package driver

import (
	"fmt"
	"strconv"
	"time"
)

// Semaphore is what the request for a slot says of its semaphore.
type Semaphore struct {
	Key   string // prefix and name
	Slot  int    // that is asked for, from 0
	Slots int    // how many there are
	Keep  time.Duration

	OneQueue bool // the queue is that of the semaphore, not that of the slot; with Capabilities.SlotQueue only
	Any      bool // the caller waits for any of the slots; with OneQueue only
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
