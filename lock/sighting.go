package lock

import "time"

// Sighting says who held a resource when a quorum of nodes was asked. Asking changes nothing on the
// nodes.
//
// It is a hint, and may be out of date before the caller gets it: the holder may have released the
// resource, and a resource that was seen free may be held by now.
type Sighting struct {
	Resource string
	// Held is true if a quorum of nodes named one holder. It is false if no holder can have a quorum.
	Held bool
	// Holder describes the process that wrote the lock; zero if another library wrote it.
	Holder Holder
	// Fence is a lower bound of the fencing token of the holder's lease. It is the token itself if
	// the nodes' counters agreed on the grant, as they normally do, and if the lease was not handed
	// over inside the holder's process. It is 0 if the nodes keep no counters.
	Fence uint64
	// SeenAt is when the nodes were asked, by this process's clock. Their answers are at least as recent.
	SeenAt time.Time
	// NotAfter is the latest time, by this process's clock, at which the holder's lease ends if it was
	// not renewed after SeenAt. It is zero if the lock is free or never expires by itself.
	NotAfter time.Time
}
