package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// lastMoment is a Locker whose caller gives up in the instant of the grant.
type lastMoment struct {
	lock.Locker
	giveUp context.CancelCauseFunc
}

func (l lastMoment) Acquire(ctx context.Context, r string, opts ...lock.AcquireOption) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, r, opts...)
	l.giveUp(errGaveUp)
	return lease, err
}

var errGaveUp = errors.New("gave up")

func TestAcquireDetached(t *testing.T) {
	l, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, giveUp := context.WithCancelCause(t.Context())
	lease, err := lock.AcquireDetached(ctx, lastMoment{l, giveUp}, "job")
	if lease != nil || !errors.Is(err, errGaveUp) {
		t.Errorf("ctx ends in the instant of the grant: %v, %v", lease, err)
	}
	ctx, giveUp = context.WithCancelCause(t.Context())
	lease, err = lock.AcquireDetached(ctx, l, "job", lock.NoWait()) // nothing was left behind
	if err != nil {
		t.Fatal(err)
	}
	giveUp(errGaveUp)
	if err := lease.Extend(t.Context()); err != nil || lease.Context().Err() != nil {
		t.Errorf("ctx ends later: %v, %v", err, lease.Context().Err())
	}
	if _, err := lock.AcquireDetached(ctx, l, "job"); !errors.Is(err, errGaveUp) {
		t.Errorf("ctx has ended: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestDetachedEndsAsAcquireDoes: the error says whether a deadline has passed or somebody has cancelled, and why.
func TestDetachedEndsAsAcquireDoes(t *testing.T) {
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"deadline":            deadline(nil),
		"deadline with cause": deadline(errGaveUp),
		"cancelled":           cancelled(nil),
		"cancelled, cause":    cancelled(errGaveUp),
		"cancelled, deadline": cancelled(context.DeadlineExceeded), // as an errgroup does for a deadline of another member
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := memlock.New(memlock.NewNodes(3))
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				if _, err := l.Acquire(t.Context(), "held"); err != nil {
					t.Fatal(err)
				}
				ctx, stop := end(t.Context())
				defer stop()
				_, plain := l.Acquire(ctx, "held")
				ctx, stop = end(t.Context())
				defer stop()
				_, waited := lock.AcquireDetached(ctx, l, "held")
				ctx, stop = end(t.Context())
				defer stop()
				_, granted := lock.AcquireDetached(ctx, atTheEnd{l}, "job")
				for _, err := range []error{waited, granted} {
					for _, target := range []error{context.Canceled, context.DeadlineExceeded, errGaveUp} {
						if errors.Is(err, target) != errors.Is(plain, target) {
							t.Errorf("%v\ndoes not match %q as that of Acquire does: %v", err, target, plain)
						}
					}
					if got, want := lock.ReasonOf(err), lock.ReasonOf(plain); got != want {
						t.Errorf("%v\nhas the reason %s, want %s", err, got, want)
					}
				}
			})
		})
	}
}

func deadline(cause error) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeoutCause(ctx, time.Second, cause)
	}
}

func cancelled(cause error) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(time.Second, func() { cancel(cause) })
		return ctx, func() { cancel(nil) }
	}
}

// atTheEnd is a Locker that grants when the caller gives up.
type atTheEnd struct{ lock.Locker }

func (l atTheEnd) Acquire(ctx context.Context, r string, opts ...lock.AcquireOption) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, r, opts...)
	<-ctx.Done()
	return lease, err
}

// TestNoLocker is an error, as in the constructs.
func TestNoLocker(t *testing.T) {
	_, detached := lock.AcquireDetached(t.Context(), nil, "job")
	_, reentrant := lock.Reentrant(nil).Acquire(t.Context(), "job")
	for name, err := range map[string]error{
		"Do": lock.Do(t.Context(), nil, "job", nil), "AcquireDetached": detached, "Reentrant": reentrant,
	} {
		if !errors.Is(err, lock.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWorkContext ends with the lease, with the context of the caller, and at its deadline; the lease stays.
func TestWorkContext(t *testing.T) {
	l, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	deadline := time.Now().Add(time.Hour)
	timed, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(timed)
	lease, err := lock.AcquireDetached(ctx, l, "job", lock.NoWait())
	if err != nil {
		t.Fatal(err)
	}
	working, stop := lock.WorkContext(ctx, lease)
	if at, ok := working.Deadline(); !ok || !at.Equal(deadline) {
		t.Errorf("the deadline is %v, %v", at, ok)
	}
	giveUp(errGaveUp)
	if <-working.Done(); !errors.Is(context.Cause(working), errGaveUp) || lease.Context().Err() != nil {
		t.Errorf("the caller gives up: %v, the lease %v", context.Cause(working), lease.Context().Err())
	}
	stop()
	working, stop = lock.WorkContext(t.Context(), lease)
	l.Lose("job")
	if <-working.Done(); !errors.Is(context.Cause(working), lock.ErrLost) {
		t.Errorf("the lease is lost: %v", context.Cause(working))
	}
	stop()
	stop()
}
