// Package carried has the context keys of values that only packages lock and engine exchange.
package carried

// Traces is the key of the installed hooks, outer first: a []*lock.Trace.
type Traces struct{}

// Traceparent is the key of the caller's W3C traceparent: a string.
type Traceparent struct{}

// Lease is the key of the innermost lease that the context descends from.
type Lease struct{}
