package livetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// Waiters is how many wait for the order in an Incident.
const Waiters = 1000

// Incident is a Board of a process in which 1,000 callers wait for an order, whose holder
// waits for stock that another process holds; 20 more wait for carts, and two callers
// wait for each other. It goes on until the test ends.
func Incident(ctx context.Context, t testing.TB) *live.Board {
	t.Helper()
	board, err := live.New(live.WithInstance("orders-7d9f5c/1"),
		live.WithTraceURL("https://tempo.example.com/trace/{traceID}"))
	must(t, err)
	nodes := memlock.NewNodes(5)
	engine := func(instance string) lock.Locker {
		l, err := memlock.New(nodes, lock.WithInstance(instance), lock.WithCallSites(),
			lock.WithPage("http://10.0.3.17:9090/debug/locks"))
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}
	here, err := board.Wrap(engine("orders-7d9f5c/1"))
	must(t, err)
	there := engine("billing-84cc/1")
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		working.Wait()
	})
	hold := func(l lock.Locker, resource string) lock.Lease {
		lease, err := l.Acquire(locktrace.WithTraceparent(ctx, "00-"+Trace+"-0000000000000001-01"), resource)
		must(t, err)
		return lease
	}
	wait := func(ctx context.Context, n int, resource string) {
		for range n {
			working.Go(func() { _, _ = here.Acquire(ctx, resource) })
		}
	}
	hold(there, "stock:eu-central-1:991")
	wait(hold(here, "order:1001").Context(), 1, "stock:eu-central-1:991")
	for i := range 20 {
		name := fmt.Sprintf("cart:%d", 5541+i%4)
		if i < 4 {
			hold(here, name)
		}
		wait(ctx, 1, name)
	}
	a, b := hold(here, "invoice:2024-11"), hold(here, "ledger:2024")
	wait(a.Context(), 1, "ledger:2024")
	wait(b.Context(), 1, "invoice:2024-11")
	for i := range 30 {
		hold(here, fmt.Sprintf("customer:%d", 88213+i))
	}
	wait(ctx, Waiters, "order:1001")
	for end := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
		if s := board.State(ctx); s.Totals.Contended == 8 && s.Blocked[0].Waiting == Waiters && len(s.Deadlocks) == 1 {
			return board
		}
		if time.Now().After(end) {
			t.Fatalf("no incident within a minute: %+v", board.State(ctx).Totals)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
