package driver

import "time"

// PeekRequest asks who holds a lock. It changes nothing: no key, queue, marker, tombstone or TTL. Later requests have the
// same answers as without it.
//
// A node that may not vote answers with the error that an acquire would get. The answer is not
// older than the call: a server that may lag behind, such as a replica, must fail instead.
type PeekRequest struct{ Key string }

// PeekReply is what a node has under the key. It is zero if nobody holds the lock, also while the
// lock is reserved for a waiter.
type PeekReply struct {
	Held    bool
	Counter uint64        // fence counter of the grant; 0 if unknown
	TTL     time.Duration // left; negative if the lock never expires
	Holder  string        // holder record, "" if unknown
}
