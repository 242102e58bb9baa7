package lock

import "time"

// Holder describes the process that wrote a lock, as the lock's value records it.
type Holder struct {
	Instance    string    // host/pid, or the name given with [WithInstance]
	Since       time.Time // start of the attempt on the holder's clock, to the millisecond
	Traceparent string    // W3C trace context of the acquiring call; empty if none
	CallSite    string    // folder/file.go:line of that call; empty without [WithCallSites]
	Page        string    // URL of the process's live page; empty without [WithPage]
	Kind        Kind      // what the lock is part of; empty for a lock by itself
	Slots       int       // how many slots the semaphore has; 0 for other kinds
	Reason      string    // why it holds the lock, if it said so; see [HoldReason]
	Done        bool      // it has released the lock, which is kept for the rest of its [MinHold]
}
