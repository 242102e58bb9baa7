package lock

import (
	"errors"
	"fmt"
)

// QueuesSlots returns nil if l has one queue for all slots of a semaphore: an Acquire that
// waits, with AcquireOptions.OneQueue, takes any of them. Resource of the lease says which one. All processes are served
// first come, first served. All Acquires for the semaphore must have that option, also those that do not wait. Otherwise
// QueuesSlots returns an error that matches errors.ErrUnsupported. It sends nothing.
//
// Engines have a method QueuesSlots() error, which says so of their driver. A decorator that passes options on as they
// are has it too, and returns QueuesSlots of the Locker that it wraps. Any other Locker is taken for one without.
func QueuesSlots(l Locker) error {
	if q, ok := l.(interface{ QueuesSlots() error }); ok {
		return q.QueuesSlots()
	}
	return fmt.Errorf("%w: %T has no method QueuesSlots", errors.ErrUnsupported, l)
}
