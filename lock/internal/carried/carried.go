// Package carried has what packages lock and engine exchange: context keys, and an error.
package carried

import "errors"

// ErrUpgrade is the error of package rwlock: an engine sees that the caller holds the read lock.
var ErrUpgrade = errors.New("lock: a reader cannot become the writer")

// Traces is the key of the installed hooks, outer first: a []*locktrace.Trace.
type Traces struct{}

// Traceparent is the key of the caller's W3C traceparent: a string.
type Traceparent struct{}

// Lease is the key of the innermost lease that the context descends from.
type Lease struct{}
