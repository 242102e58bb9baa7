package fencing

import (
	"errors"
	"fmt"
	"math"

	"github.com/lockscope/lockscope/lock"
)

// Check fails with lock.ErrInvalidOption if fence is 0 or does not fit into 63 bits: no lease with a token has it. The
// functions of this package call it; guards of your own should.
func Check(resource string, fence uint64) error {
	if fence == 0 || fence > math.MaxInt64 {
		return fmt.Errorf("fencing: %w: %d is no fencing token of %q: acquire with lock.Fenced()",
			lock.ErrInvalidOption, fence, resource)
	}
	return nil
}

// ErrStale is what every [StaleError] matches.
var ErrStale = errors.New("fencing: stale token")

// StaleError means that a later lease has written: the lease of this token is over.
type StaleError struct {
	Resource string
	Fence    uint64 // the token that was refused
	Seen     uint64 // the highest token that was seen; 0 if unknown
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %d for %q, after %d: acquire the lock again and read anew",
		ErrStale, e.Fence, e.Resource, e.Seen)
}

// Is makes errors.Is(err, ErrStale) true.
func (e *StaleError) Is(target error) bool { return target == ErrStale }
