package lock

import (
	"errors"
	"fmt"
)

// ErrUpgrade means that a caller which reads a read/write lock asked for the write lock of the same name. It
// would wait for itself.
var ErrUpgrade = errors.New("lock: a reader cannot become the writer")

// Shares returns nil if l has read/write locks: leases of [KindRead] that do not exclude one another. Otherwise it
// returns an error that matches errors.ErrUnsupported. It sends nothing.
//
// Engines have a method Shares() error, which says so of their driver. A decorator that passes options on as they are
// has it too, and returns Shares of the Locker that it wraps. Any other Locker is taken for one without.
func Shares(l Locker) error {
	if s, ok := l.(interface{ Shares() error }); ok {
		return s.Shares()
	}
	return fmt.Errorf("%w: %T has no method Shares, so it may not pass on who reads", errors.ErrUnsupported, l)
}
