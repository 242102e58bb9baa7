// Package panics keeps a panic of what is only read, a caller's span or error perhaps,
// from reaching those who lock.
package panics

// Contain must be deferred itself.
func Contain() { _ = recover() }
