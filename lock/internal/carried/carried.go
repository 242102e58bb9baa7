// Package carried has what packages lock and engine exchange, and the constructs give them: context keys, and the mark of
// a construct.
package carried

// Construct marks the options of a call that a construct makes. Only packages below lock can make one that is not zero.
type Construct struct{ kind string }

// ConstructOf returns the mark for calls of that kind.
func ConstructOf(kind string) Construct { return Construct{kind} }

// Marks reports whether c was made for calls of that kind.
func (c Construct) Marks(kind string) bool { return c.kind == kind }

// Traces is the key of the installed hooks, outer first: a []*locktrace.Trace.
type Traces struct{}

// Traceparent is the key of the caller's W3C traceparent: a string.
type Traceparent struct{}

// Lease is the key of the innermost lease that the context descends from.
type Lease struct{}
