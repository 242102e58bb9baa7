package report

import (
	"github.com/lockscope/lockscope/lock"
)

// Format names who wrote a lock's value, as far as its shape tells.
type Format string

// The formats of lock values.
const (
	FormatLockscope Format = "lockscope"
	FormatRedisson  Format = "redisson"
	FormatShedLock  Format = "shedlock"
	FormatUnknown   Format = "unknown"
)

// Hold is what a lock's value tells of who holds it and how. It never has an owner
// token. Of other formats than lockscope's the Holder is what they have of it: as
// Instance a host, or Redisson's client and thread, and ShedLock's time as Since.
type Hold struct {
	lock.Holder
	Format Format
	Count  int // re-entries of a Redisson lock; else zero
	// Fence is the fencing token of a lockscope lock; else zero. What one node has may be off
	// either way, for each counts for itself. In a listed lock the holder's is this one or a later
	// one, as leases have that were handed the lock inside of a process.
	Fence uint64
}
