package label

import (
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Name is the name that has the label: the resource or, for a slot, its semaphore, so that all slots are one resource.
// kind is called only if the resource has the name of a slot.
func Name(resource string, kind func() lock.Kind) string {
	if semaphore, _, ok := records.ParseSlot(resource); ok && kind() == lock.KindSemaphore {
		return semaphore
	}
	return resource
}
