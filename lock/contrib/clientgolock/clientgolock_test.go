package clientgolock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/clientgolock"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

var _ resourcelock.Interface = (*clientgolock.Lock)(nil)

func record(holder string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: holder, LeaseDurationSeconds: 15}
}

// TestLock: what client-go asks for, call by call.
func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		first, _ := candidate(t, nodes, "first")
		second, _ := candidate(t, nodes, "second")
		if _, _, err := first.Get(t.Context()); !apierrors.IsNotFound(err) {
			t.Errorf("nobody leads: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		must(t, first.Create(ctx, record("first")))
		cancel() // as client-go does
		for _, fn := range []func(context.Context, resourcelock.LeaderElectionRecord) error{second.Create, second.Update} {
			if err := fn(t.Context(), record("second")); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("the first leads: %v", err)
			}
		}
		for _, l := range []*clientgolock.Lock{first, second} {
			seen, raw, err := l.Get(t.Context())
			must(t, err)
			if d := seen.LeaseDurationSeconds; seen.HolderIdentity != "first" || d < 15 || d > 16 || len(raw) == 0 {
				t.Errorf("%s sees %v", l.Identity(), seen)
			}
		}
		must(t, second.Update(t.Context(), record(""))) // it does not lead: nothing to release
		for range 100 {
			<-time.After(10 * time.Second)
			must(t, first.Update(t.Context(), record("first")))
		}
		<-time.After(16 * time.Second) // without a renewal
		if err := first.Update(t.Context(), record("first")); !errors.Is(err, lock.ErrLost) {
			t.Errorf("it was lost: %v", err)
		}
		if _, _, err := first.Get(t.Context()); !errors.Is(err, lock.ErrLost) {
			t.Errorf("it was lost: %v", err)
		}
		must(t, second.Update(t.Context(), record("second")))
		must(t, second.Update(t.Context(), record("")))
		if err := first.Create(t.Context(), record("first")); !errors.Is(err, lock.ErrLost) {
			t.Errorf("its term is over: %v", err)
		}
		first.RecordEvent("stopped leading")
		must(t, first.Create(t.Context(), record("first")))
		must(t, first.Update(t.Context(), record("")))
	})
}

// TestNoQuorum: a candidate that cannot ask does not lead, and does not say that nobody does.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, locker *memlock.Locker) {
		l := clientgolock.New(locker, "controller", "first")
		if _, _, err := l.Get(t.Context()); !errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("Get: %v", err)
		}
		if err := l.Create(t.Context(), record("first")); !errors.Is(err, lock.ErrNoQuorum) || l.Fence() != 0 {
			t.Errorf("Create: %v, term %d", err, l.Fence())
		}
		l.Leading(func(context.Context) { t.Error("it leads") })(t.Context())
		ctx, stop := context.WithCancel(t.Context())
		e := run(ctx, t, l, l.Leading)
		<-time.After(time.Minute)
		stop()
		<-e.stopped
		if len(e.leads) > 0 {
			t.Error("client-go leads")
		}
	})
}
