package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/redlock"
)

func Example() {
	ctx := context.Background()
	locker, err := redlock.Open([]string{"127.0.0.1:6379"})
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
	fmt.Println("charged", order, "under a fence:", fence > 0)
	return nil
}

// inMemory is a locker without a server. A service uses redlock.Open instead.
func inMemory(opts ...lock.Option) *memlock.Locker {
	locker, err := memlock.New(memlock.NewNodes(3), opts...)
	if err != nil {
		log.Fatal(err)
	}
	return locker
}

// The lease's context ends when the lease is lost. Do reports the loss even if the work did not look.
func ExampleDo() {
	locker := inMemory()
	defer locker.Close()
	err := lock.Do(context.Background(), locker, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		return charge(ctx, 1001, lease.Fence())
	})
	fmt.Println("error:", err)

	err = lock.Do(context.Background(), locker, "order:1002", func(ctx context.Context, lease lock.Lease) error {
		_ = locker.Lose("order:1002") // as a partition or a pause may
		return charge(ctx, 1002, lease.Fence())
	})
	fmt.Println("lost:", errors.Is(err, lock.ErrLost))
	// Output:
	// charged 1001 under a fence: true
	// error: <nil>
	// lost: true
}

// A caller that does not want to wait learns the holder from the error.
func ExampleNoWait() {
	locker := inMemory(lock.WithInstance("reports-1"))
	defer locker.Close()
	ctx := context.Background()
	lease, err := locker.Acquire(ctx, "report:daily")
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)

	_, err = locker.Acquire(ctx, "report:daily", lock.NoWait())
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		fmt.Println(lock.ReasonOf(err), "by", held.Holder.Instance)
	}
	// Output:
	// held by reports-1
}

// A function that locks may be called by a function that already holds the same lock.
func ExampleReentrant() {
	locker := inMemory()
	defer locker.Close()
	reentrant := lock.Reentrant(locker)
	ctx := context.Background()
	err := lock.Do(ctx, reentrant, "account:7", func(ctx context.Context, outer lock.Lease) error {
		return lock.Do(ctx, reentrant, "account:7", func(_ context.Context, inner lock.Lease) error {
			fmt.Println("one lease:", inner.Fence() == outer.Fence())
			return nil
		}, lock.MaxWait(time.Second))
	})
	fmt.Println("error:", err)
	// Output:
	// one lease: true
	// error: <nil>
}
