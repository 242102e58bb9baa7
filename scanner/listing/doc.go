// Package listing is who holds which lock, as scanner.Scanner.List reads it. A [Listing] has each [Lock] over all
// nodes (listing.go, lock.go), [Waits] has the callers that wait for them (waits.go), and [Inspect] reads both from a
// system beside Redis (inspect.go).
package listing
