package locktest

import "github.com/lockscope/lockscope/lock"

// AsConstruct makes an Acquire one of a construct, as engines and views see it: of that kind, with that number of slots
// for a semaphore. It is for tests of what shows, measures or sweeps such locks. A program uses the construct.
func AsConstruct(kind lock.Kind, slots int) lock.AcquireOption {
	switch kind {
	case lock.KindRead:
		return lock.InMode(lock.ModeRead)
	case lock.KindWrite:
		return lock.InMode(lock.ModeWrite)
	case lock.KindSemaphore:
		return lock.Slots(slots) // with a resource NAME#3
	}
	return lock.OfKind(kind)
}
