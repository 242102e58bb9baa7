package driver

// Mode is how a lock is held.
type Mode int

// The modes of a lock. A lock in mode Write excludes what an Exclusive one does, and an Exclusive lock excludes readers,
// too. Only waiting differs: see [AcquireRequest].Bar.
const (
	Exclusive Mode = iota // by one holder: a lock by itself
	Read                  // by any number of readers
	Write                 // by one holder, which readers wait for
)

// Sharer is an optional interface of a [Node] that knows the modes Read and Write. The engine sends no other mode than
// Exclusive to a node without it.
//
// What such a node does beside the rest of this package:
//
//   - It keeps readers of a key apart, each with its token, counter, holder and expiry. Nobody else's request shortens
//     the time of a reader.
//   - It grants Read unless the key has another holder, is kept for a waiter, or a bar with an earlier ticket than the
//     reader's stands there. A reader without a ticket has come later than every bar. The counter stays as it is, and
//     the reply is that counter. A node without a counter starts it at the floor first, as for any grant. A node that
//     is always alone in its set may count on instead, so that each reader has a fence of its own.
//   - It grants Write and Exclusive only if there is no reader.
//   - Extend of a reader puts a lost one back only if no other holder is there, nothing is kept for a waiter and no bar
//     stands.
//   - A release names the next waiter: one writer if nobody holds the key now, or all readers at the head of the queue.
type Sharer interface {
	// Shares returns nil, or an error that matches errors.ErrUnsupported. It sends nothing.
	Shares() error
}
