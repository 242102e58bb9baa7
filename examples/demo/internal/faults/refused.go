package faults

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Refused is the error of a NoWait attempt on a held resource.
func (f *Faults) Refused(ctx context.Context, instance, resource string) (*lock.HeldError, error) {
	locker, err := f.Open(instance)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; {
		_, err = locker.Acquire(ctx, resource, lock.NoWait())
		// On a busy machine too few nodes may have answered in time to say anything.
		if !errors.Is(err, lock.ErrNoQuorum) || time.Since(began) > f.TTL {
			break
		}
	}
	if closed := locker.Close(); closed != nil {
		return nil, closed
	}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return held, nil
	}
	return nil, err
}
