package lock_test

import (
	"context"
	"errors"
	"testing"

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
