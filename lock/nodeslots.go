package lock

// NodeSlots is what one node knows of the number of slots of a semaphore; see package semaphore.
type NodeSlots struct {
	Node  string
	Slots int   // 0 if the node knows none, or has not answered
	Err   error // why the node has not answered; nil if it has
}
