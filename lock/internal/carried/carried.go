// Package carried has the keys under which a context carries what package lock and package
// engine tell each other, and nobody else.
package carried

// Traces finds the hooks that were installed, outer first: a []*lock.Trace.
type Traces struct{}

// Traceparent finds the W3C traceparent of the caller: a string.
type Traceparent struct{}

// Lease finds the innermost lease that the context descends from.
type Lease struct{}
