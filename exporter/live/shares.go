package live

import "github.com/lockscope/lockscope/lock"

// Shares returns nil if the wrapped Locker has read/write locks; see [lock.Shares].
func (l *locker) Shares() error { return lock.Shares(l.next) }

// QueuesSlots returns nil if the wrapped Locker has one queue for all slots of a semaphore; see [lock.QueuesSlots].
func (l *locker) QueuesSlots() error { return lock.QueuesSlots(l.next) }
