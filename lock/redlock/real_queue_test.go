package redlock_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// TestRealQueueReportsWhoWaits: every reader learns which processes wait, since when, at which call site, and which
// locks they hold. One node does not have the lock: it may be the one with the queue.
func TestRealQueueReportsWhoWaits(t *testing.T) {
	for name, without := range map[string][]int{"all have the lock": nil, "one has not": {0}, "another has not": {1},
		"the third has not": {2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testQueueReportsWhoWaits(t, without)
		})
	}
}

func testQueueReportsWhoWaits(t *testing.T, without []int) {
	f := startNodes(t, 3)
	const page = "http://10.0.0.7:9090/debug/locks"
	holder := f.locker(lock.WithInstance("holder"), lock.WithCallSites())
	waiter := f.locker(lock.WithInstance("waiter"), lock.WithCallSites(), lock.WithPage(page))
	blocking := acquire(t, holder, "job", lock.TTL(longTTL))
	must(t, blocking.Extend(t.Context())) // every node has answered
	for _, node := range without {
		must(t, f.admin[node].Del(t.Context(), "lock:job").Err())
	}
	first, second := acquire(t, waiter, "first", lock.TTL(longTTL)), acquire(t, waiter, "second", lock.TTL(longTTL))
	var gone []<-chan grant
	for _, lease := range []lock.Lease{first, second} {
		gone = append(gone, acquireAsync(lease.Context(), waiter, "job", lock.TTL(longTTL)))
	}
	var seen stored.Queued
	eventually(t, settleTime, "the waiters hold something", func() bool {
		for _, node := range f.admin {
			all, totals, err := stored.ReadQueues(t.Context(), node, []string{"lock:none", "lock:job"}, 10)
			must(t, err)
			queue, total := all[1], totals[1]
			if len(all[0])+totals[0] > 0 || total != len(queue) || total > 1 {
				t.Fatalf("%d of %d in the queue, and %v in an empty one", len(queue), total, all[0])
			}
			if total == 1 && queue[0].Says != nil && len(queue[0].Says.Holds) == 2 {
				seen = queue[0]
			}
		}
		return seen.Says != nil
	})
	w := *seen.Says
	if w.Instance != "waiter" || w.Page != page || w.Callers != 2 || !strings.HasPrefix(w.CallSite, "redlock/real_") {
		t.Errorf("the waiter says %+v", w)
	}
	for _, lease := range []lock.Lease{first, second} {
		if !slices.Contains(w.Holds, lock.HeldLease{Resource: lease.Resource(), Fence: lease.Fence()}) {
			t.Errorf("it does not say that it holds %q: %+v", lease.Resource(), w.Holds)
		}
	}
	_, err := refused(t, waiter, "job", lock.ErrHeld)
	wantText(t, err, "held by holder", "real_helpers_test.go:")
	must(t, first.Release(t.Context()))
	must(t, second.Release(t.Context()))
	for _, g := range gone {
		await(t, waitTime, "the waiter gives up", g)
	}
	must(t, blocking.Release(t.Context()))
}
