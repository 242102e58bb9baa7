// Package traceevent writes the Trace Event Format, the JSON that Perfetto and chrome://tracing open: processes with
// threads, slices, instants, and arrows between slices.
//
// The format counts in microseconds. A [Trace] takes durations since a start of the caller's choice and writes them
// with three decimals, so that no nanosecond is lost.
package traceevent
