package serve

import (
	"log/slog"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
)

// TestBlockedCountsEveryCall, of processes in the list and of others, and marks deadlocks.
func TestBlockedCountsEveryCall(t *testing.T) {
	now := time.Unix(1763700000, 0)
	holder := func(name string) lock.Holder { return lock.Holder{Instance: name, Since: now.Add(-time.Minute)} }
	waiting := func(name, holds string) records.Waiting {
		return records.Waiting{
			Holder: lock.Holder{Instance: name, Since: now.Add(-5 * time.Second), CallSite: "a/b.go:1"}, Callers: 3,
			Holds: []lock.HeldLease{{Resource: holds, Fence: 7}},
		}
	}
	waited := func(resource, by string, w records.Waiting) listing.WaitedFor {
		return listing.WaitedFor{
			Key: "lock:" + resource, Resource: resource, Queue: []stored.Queued{{ID: "1", Since: w.Since, Says: &w}},
			Processes: 2, Callers: 3, At: now,
			Lock: &listing.Lock{Nodes: 3, Of: 3, Hold: inspect.Hold{Holder: holder(by), Format: inspect.FormatLockscope,
				Fence: 7}, At: now},
		}
	}
	stock, order := waiting("orders-1", "order"), waiting("stock-2", "stock")
	waits := &listing.Waits{
		Locks: []listing.WaitedFor{waited("stock", "stock-2", stock), waited("order", "orders-1", order)},
		Graph: waitgraph.New(
			waitgraph.Resource{Name: "stock", Lease: &waitgraph.Lease{Fence: 7, Holder: holder("stock-2")},
				Waiters: []records.Waiting{stock}},
			waitgraph.Resource{Name: "order", Lease: &waitgraph.Lease{Fence: 7, Holder: holder("orders-1")},
				Waiters: []records.Waiting{order}},
		),
		Read: 3, Of: 3,
	}
	waits.Deadlocks = waits.Graph.Cycles()
	look := ofOne(waits)
	rows := look[0].blocked(nil)
	if len(rows) != 2 || rows[0].Waiting != 4 || rows[0].Longest != 5 || rows[0].Holder.Holder != "stock-2" ||
		!rows[0].Deadlock || rows[0].ByClass["holder"] != 4 {
		t.Fatalf("%+v", rows)
	}
	if chain := rows[0].Chain; len(chain) != 2 || chain[0].Resource != "order" || chain[0].For != 5 ||
		chain[0].CallSite != "a/b.go:1" || chain[0].Holder.Holder != "orders-1" {
		t.Errorf("chain %+v", chain)
	}
	b := newBlocking(slog.New(slog.DiscardHandler))
	b.observe(t.Context(), look, now.Add(-time.Minute))
	b.observe(t.Context(), look, now)
	if ago := b.found("", waits.Deadlocks[0], now); ago != 60 {
		t.Errorf("found %v s ago, want at the first look, a minute ago", ago)
	}
	if all := look[0].deadlock(waits.Deadlocks[0], 60); len(all.Cycle) != 2 || all.Cycle[0].Resource != "order" {
		t.Errorf("deadlocks %+v", all)
	}
}
