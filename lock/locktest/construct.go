package locktest

import (
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// AsConstruct makes an Acquire one of a construct, as engines and views see it: of that kind, with that number of slots
// for a semaphore. It is for tests of what shows, measures or sweeps such locks. A program uses the construct.
func AsConstruct(kind lock.Kind, slots int) lock.AcquireOption {
	switch kind {
	case lock.KindRead:
		return lock.InMode(lock.ModeRead)
	case lock.KindWrite:
		return lock.InMode(lock.ModeWrite)
	case lock.KindSemaphore:
		return lock.Permit(carried.Permit{Slots: slots})
	}
	return lock.OfKind(kind)
}
