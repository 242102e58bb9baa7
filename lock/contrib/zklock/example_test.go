package zklock_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
)

// The lock of resource "order:1001" is the queue /locks/order:1001, which zk.Lock and Curator can
// share.
func Example() {
	ctx := context.Background()
	servers, stop := startZooKeeper(ctx)
	defer stop()

	locker, err := zklock.New(servers) // host:port of each server
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	err = lock.Do(ctx, locker, "order:1001", func(_ context.Context, lease lock.Lease) error {
		fmt.Println("holding", lease.Resource(), "with a fencing token:", lease.Fence() > 0)
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// holding order:1001 with a fencing token: true
	// error: <nil>
}
