// Package listing is who holds which lock, as package scanner lists it: a [Listing] of each
// [Lock] over all nodes (listing.go, lock.go), who waits for them ([Waits], waits.go), and one
// of several scanners (merge.go). Package scanner has the same names for most of it.
package listing
