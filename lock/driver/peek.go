package driver

import (
	"context"
	"time"
)

// Peeker is an optional interface of a [Node] that can say who holds a lock and change nothing: no
// key, queue, marker, tombstone or TTL. Whatever is asked of the node later has the same answer as
// without the Peek.
//
// A node that may not vote answers with the error that an acquire would get. The answer is not
// older than the call: a server that may lag behind, such as a replica, must fail instead.
type Peeker interface {
	// Peek may run beside other calls about the same key.
	Peek(call Call, req *PeekRequest, to Answer[PeekReply])
}

// BlockingPeeker is Peeker for a [BlockingNode]. A node without it answers with an error that
// matches errors.ErrUnsupported.
type BlockingPeeker interface {
	Peek(ctx context.Context, req PeekRequest) (PeekReply, error)
}

// PeekRequest asks who holds a lock.
type PeekRequest struct{ Key string }

// PeekReply is what a node has under the key. It is zero if nobody holds the lock, also while the
// lock is reserved for a waiter.
type PeekReply struct {
	Held    bool
	Counter uint64        // fence counter of the grant; 0 if unknown
	TTL     time.Duration // left; negative if the lock never expires
	Holder  string        // holder record, "" if unknown
}
