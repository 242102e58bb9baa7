package lock

import "time"

// Sighting is who holds a resource, as a quorum of nodes described it when they were asked. Asking
// changes nothing on the nodes.
//
// It is a hint: it may be out of date before the caller has it. Nobody owns a resource because a
// Sighting says so, and a resource that was seen free may be held by now.
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
	// SeenAt is when the nodes were asked, by this process's clock. What they said is not older.
	SeenAt time.Time
	// NotAfter is when the holder's lease has ended unless it was renewed after SeenAt, by this
	// process's clock. It is zero if the lock is free or never expires by itself.
	NotAfter time.Time
}
