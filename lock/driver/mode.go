package driver

// Mode is how a lock is held.
type Mode int

// The modes of a lock. A lock in mode Write excludes what an Exclusive one does, and an Exclusive lock excludes readers,
// too. Only waiting differs: see [AcquireRequest].Bar. Capabilities.Readers says what a node does about them.
const (
	Exclusive Mode = iota // by one holder: a lock by itself
	Read                  // by any number of readers
	Write                 // by one holder, which readers wait for
)
