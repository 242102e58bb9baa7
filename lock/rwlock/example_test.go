package rwlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

func ExampleRWLock() {
	ctx := context.Background()
	locker, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	prices, err := rwlock.New(locker, "prices:eu")
	if err != nil {
		log.Fatal(err)
	}
	err = prices.Read(ctx, func(ctx context.Context, lease lock.Lease) error {
		other, err := prices.TryRLock(context.Background()) // as another process would
		if err != nil {
			return err
		}
		fmt.Println("two readers at once")
		return other.Release(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}
	err = prices.Write(ctx, func(context.Context, lock.Lease) error {
		_, err := prices.TryRLock(context.Background())
		fmt.Println("a reader beside the writer:", !errors.Is(err, lock.ErrHeld))
		return nil
	})
	fmt.Println(err)
	// Output:
	// two readers at once
	// a reader beside the writer: false
	// <nil>
}

// A caller that reads and then wants to write releases first, and looks again at what it read.
func ExampleErrUpgrade() {
	ctx := context.Background()
	locker, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	prices, err := rwlock.New(locker, "prices:eu")
	if err != nil {
		log.Fatal(err)
	}
	reader, err := prices.RLock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = prices.Lock(reader.Context())
	fmt.Println(errors.Is(err, rwlock.ErrUpgrade))
	if err := reader.Release(ctx); err != nil {
		log.Fatal(err)
	}
	writer, err := prices.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the writer's fence is larger:", writer.Fence() > reader.Fence())
	fmt.Println(writer.Release(ctx))
	// Output:
	// true
	// the writer's fence is larger: true
	// <nil>
}
