package lock

import "slices"

// Kind says which construct a lock is part of. The empty Kind is a lock by itself.
//
// A kind is for people: metrics, pages and the holder's record on the nodes show it. It changes nothing about the lock.
// The packages of the constructs set it.
type Kind string

// The kinds of constructs.
const (
	KindElection  Kind = "election"  // the leader's lease
	KindSet       Kind = "set"       // one of the locks of a set
	KindSemaphore Kind = "semaphore" // a slot
	KindRead      Kind = "read"      // a reader of a read/write lock; other readers may have the same fence
	KindWrite     Kind = "write"     // its writer
)

// Valid reports whether k is empty or one of the constants.
func (k Kind) Valid() bool {
	return slices.Contains([]Kind{"", KindElection, KindSet, KindSemaphore, KindRead, KindWrite}, k)
}
