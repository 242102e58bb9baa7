package redlock_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Open needs only addresses. One address is a lock on a single Redis; three or five are a Redlock that tolerates the
// loss of one or two nodes.
func ExampleOpen() {
	ctx := context.Background()
	server, err := redisproc.Start(ctx) // a Redis for this example
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()

	locker, err := redlock.Open([]string{"redis://" + server.Addr()})
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	err = lock.Do(ctx, locker, "order:1001", func(_ context.Context, lease lock.Lease) error {
		fmt.Println("holding", lease.Resource(), "with a fence:", lease.Fence() > 0)
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// holding order:1001 with a fence: true
	// error: <nil>
}
