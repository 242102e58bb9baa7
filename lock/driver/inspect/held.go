package inspect

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// HeldLock is a lock that is held. One that is read has an entry for each reader.
type HeldLock struct {
	Key    string      // as the system has it
	Type   string      // what the system keeps it in: row, key or znode
	Fence  uint64      // 0 if unknown
	Holder lock.Holder // empty if another library holds it, or its record cannot be read
	// Remaining is the time until the lock ends unless it is renewed; see [Left]. It is negative if the lock never ends,
	// and zero if the system does not tell.
	Remaining time.Duration
}

// Left is the Remaining of a lock with this much time left: one that is about to end has a little.
func Left(left time.Duration) time.Duration {
	if left < 0 {
		return -1
	}
	return max(left, time.Millisecond)
}

// Waiting is a process that queues for a lock.
type Waiting struct {
	Key   string
	Since time.Time // by the system's clock; by the waiter's where there is no other; zero if unknown
	// Says is the record of the process. It is nil for another library, and as long as the process has not written it.
	Says *records.Waiting
}

// Process returns the record of a waiting process from a holder's record, which is all that some systems have. It is nil
// if there is none.
func Process(record string) *records.Waiting {
	h, err := records.ParseHolder(record)
	if err != nil {
		return nil
	}
	return &records.Waiting{Holder: h, Callers: 1}
}

// Reader reads who holds locks, and who waits.
type Reader interface {
	// HeldLocks returns the locks that are held, ordered by key.
	HeldLocks(ctx context.Context) ([]HeldLock, error)
	// Waiting returns the waiters, those of a lock in the order of its queue.
	Waiting(ctx context.Context) ([]Waiting, error)
	// Resource is a key without the prefix of locks.
	Resource(key string) string
}
