package locktest

import (
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// AsConstruct makes an Acquire one of a construct, as engines and views see it: of that kind, with that number of slots
// for a semaphore. It is for tests of what shows, measures or sweeps such locks. A program uses the construct.
func AsConstruct(kind lock.Kind, slots int) lock.AcquireOption {
	return func(o *lock.AcquireOptions) {
		o.Kind, o.Slots, o.Construct = kind, slots, carried.ConstructOf(string(kind))
	}
}
