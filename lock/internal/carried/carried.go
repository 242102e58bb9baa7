// Package carried has what packages lock and engine exchange, and the constructs give them: context keys, and the options
// of a permit.
package carried

import (
	"errors"
	"time"
)

// ErrUpgrade is the error of package rwlock: an engine sees that the caller holds the read lock.
var ErrUpgrade = errors.New("lock: a reader cannot become the writer")

// Permit is what package semaphore says of a call on one slot: see the fields of lock.AcquireOptions.
type Permit struct {
	Slots    int
	Look     int
	OneQueue bool
	Since    time.Time
	CallSite string
}

// Traces is the key of the installed hooks, outer first: a []*locktrace.Trace.
type Traces struct{}

// Traceparent is the key of the caller's W3C traceparent: a string.
type Traceparent struct{}

// Lease is the key of the innermost lease that the context descends from.
type Lease struct{}
