package live

import "github.com/lockscope/lockscope/lock"

// QueuesSlots returns nil if the wrapped Locker has one queue for all slots of a semaphore; see [lock.QueuesSlots].
func (l *locker) QueuesSlots() error { return lock.QueuesSlots(l.next) }
