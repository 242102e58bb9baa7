package lock_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

func Example() {
	ctx := context.Background()
	locker, err := redlock.Open([]string{"redis://10.0.0.1:6379", "redis://10.0.0.2:6379", "redis://10.0.0.3:6379"})
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	err = lock.Do(ctx, locker, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		return charge(ctx, 1001, lease.Fence()) // ctx ends if the lease is lost
	})
	if err != nil {
		log.Print(err)
	}
}

// charge stands for work that must not be done twice at once. Its store refuses a
// fencing token lower than one it has seen.
func charge(ctx context.Context, order int, fence uint64) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	fmt.Println("charged", order, "under", fence)
	return nil
}

func ExampleNoWait() {
	locker, err := redlock.Open([]string{"redis://127.0.0.1:6379"})
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	lease, err := locker.Acquire(context.Background(), "report:daily", lock.NoWait())
	switch lock.ReasonOf(err) {
	case lock.ReasonNone:
		defer lease.Release(context.Background())
	case lock.ReasonHeld:
		fmt.Println("somebody else is at it:", err) // names the holder, and for how long at most
	default:
		log.Print(err)
	}
}
