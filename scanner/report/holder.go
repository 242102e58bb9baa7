package report

import (
	"github.com/lockscope/lockscope/lock"
)

// Format names the writer of a lock's value, as far as its form shows.
type Format string

// The formats of lock values.
const (
	FormatLockscope Format = "lockscope"
	FormatRedisson  Format = "redisson"
	FormatShedLock  Format = "shedlock"
	FormatUnknown   Format = "unknown"
)

// Hold is what the value of a lock says about its holder. It never has an owner token. For other formats than
// lockscope's, the Holder has what they tell: Instance is ShedLock's host, or Redisson's client and thread, and Since
// is ShedLock's time.
type Hold struct {
	lock.Holder
	Format Format
	Count  int // re-entries of a Redisson lock; else zero
	// Fence is the fencing token of a lockscope lock; else zero. The token of a single node may be too high or too
	// low, because nodes count independently. In a listed lock, the holder's token is this one or a later one: a
	// lease that was handed over inside a process has a later token.
	Fence uint64
}
