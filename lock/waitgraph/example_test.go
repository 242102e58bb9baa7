package waitgraph_test

import (
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/waitgraph"
)

// Two processes hold one account each and wait for the other's.
func Example() {
	resource := func(name, holder, waiter, waitersLock string) waitgraph.Resource {
		return waitgraph.Resource{
			Name:  name,
			Lease: &waitgraph.Lease{Fence: 1, Holder: lock.Holder{Instance: holder}},
			Waiters: []records.Waiting{{
				Holder: lock.Holder{Instance: waiter}, Holds: []lock.HeldLease{{Resource: waitersLock, Fence: 1}},
			}},
		}
	}
	graph := waitgraph.New(
		resource("account:1", "billing-1", "billing-2", "account:2"),
		resource("account:2", "billing-2", "billing-1", "account:1"),
	)
	fmt.Println("the holder of account:1 waits for", graph.WaitsFor("account:1"))

	var watch waitgraph.Watch
	fmt.Println("deadlocks at the first look:", len(watch.Deadlocks(graph)))
	for _, deadlock := range watch.Deadlocks(graph) { // 50 ms or more later
		fmt.Println(deadlock)
	}
	// Output:
	// the holder of account:1 waits for [account:2]
	// deadlocks at the first look: 0
	// "account:1" (fence 1) waits for "account:2" (fence 1) waits for "account:1"
}
