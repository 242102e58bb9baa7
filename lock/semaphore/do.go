package semaphore

import (
	"context"
	"errors"

	"github.com/lockscope/lockscope/lock"
)

// Do acquires a permit, runs fn and releases the permit, also if fn panics. The context given to fn is the permit's.
//
// Do returns the error of Acquire if fn did not run. Otherwise it joins the errors of fn and of the release. If the
// permit was lost while fn ran, Do fails with lock.ErrLost, lock.ErrMaxHold or lock.ErrClosed even if fn returned nil.
func (s *Semaphore) Do(ctx context.Context, fn func(ctx context.Context, permit *Permit) error,
	opts ...lock.AcquireOption,
) (err error) {
	p, err := s.Acquire(ctx, opts...)
	if err != nil {
		return err
	}
	defer func() {
		lost := p.loss()
		released := p.Release(context.WithoutCancel(ctx))
		if lost != nil && errors.Is(released, lock.ErrNotHeld) {
			released = nil // it is no news
		}
		err = errors.Join(err, lost, released)
	}()
	return fn(p.Context(), p)
}

// loss is why the permit ended, unless the caller ended it.
func (p *Permit) loss() error {
	cause := context.Cause(p.Context())
	switch lock.ReasonOf(cause) {
	case lock.ReasonLost, lock.ReasonClosed:
		return cause
	}
	return nil
}
