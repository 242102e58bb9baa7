package pglock_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/pglock"
)

// TestReading tells who holds and who waits to a role that owns nothing.
func TestReading(t *testing.T) {
	s := server(t)
	holder, waiter := locker(t, s, lock.WithInstance("orders-1")),
		locker(t, s, lock.WithInstance("orders-2"), lock.WithCallSites())
	lease := acquire(t, holder, "job")
	held := acquire(t, waiter, "other")
	elsewhere, err := memlock.New(memlock.NewNodes(1))
	must(t, err)
	defer func() { must(t, elsewhere.Close()) }()
	twin, err := elsewhere.Acquire(held.Context(), "job") // of one name, and nothing to do with it
	must(t, err)
	ctx, cancel := context.WithCancel(twin.Context())
	defer cancel()
	gone := make(chan error, 1)
	go func() {
		_, err := waiter.Acquire(ctx, "job")
		gone <- err
	}()
	db := pool(t, s.URL("service"))
	var waiting []inspect.Waiting
	eventually(t, "the waiter says what it holds", func() bool {
		var err error
		waiting, err = pglock.ReadWaiting(t.Context(), db, pglock.DefaultSchema)
		must(t, err)
		return len(waiting) == 1 && waiting[0].Says != nil && len(waiting[0].Says.Holds) == 2
	})
	holds := []lock.HeldLease{{Resource: "job", Fence: twin.Fence(), Backend: "memory"},
		{Resource: "other", Fence: held.Fence()}}
	if w := waiting[0]; w.Key != "lock:job" || w.Says.Instance != "orders-2" || !slices.Equal(w.Says.Holds, holds) ||
		w.Says.CallSite == "" ||
		time.Since(w.Since) > waitTime || time.Since(w.Since) < 0 {
		t.Errorf("%+v, %+v", w, w.Says)
	}
	all, err := pglock.ReadHeldLocks(t.Context(), db, pglock.DefaultSchema)
	must(t, err)
	if len(all) != 2 || all[0].Key != "lock:job" || all[0].Holder.Instance != "orders-1" ||
		all[0].Fence != lease.Fence() ||
		all[0].Remaining <= 0 || all[0].Remaining > longTTL {
		t.Errorf("%+v", all)
	}
	cancel()
	wantErr(t, <-gone, context.Canceled)
	must(t, lease.Release(t.Context()))
	must(t, twin.Release(t.Context()))
	must(t, held.Release(t.Context()))
	_, err = pglock.ReadHeldLocks(t.Context(), db, "missing")
	wantErr(t, err, driver.ErrMisconfigured)
	_, err = pglock.ReadHeldLocks(t.Context(), db, "Bad")
	wantErr(t, err, lock.ErrInvalidOption)
}
