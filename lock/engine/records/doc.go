// Package records is how a lock's value and a queue entry say who holds and who waits: for
// the engine, which writes both, and for whatever reads them off the nodes. No record has a
// token.
package records
