package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

func ExampleSemaphore_Do() {
	locker, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	pool, err := semaphore.New(locker, "exports", 5)
	if err != nil {
		log.Fatal(err)
	}
	err = pool.Do(context.Background(), func(ctx context.Context, permit *semaphore.Permit) error {
		fmt.Println("a slot of", pool.Slots(), "with a fencing token of its own:", permit.Fence() > 0)
		return nil
	})
	fmt.Println(err)
	// Output:
	// a slot of 5 with a fencing token of its own: true
	// <nil>
}

func ExampleSemaphore_TryAcquire() {
	ctx := context.Background()
	locker, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	pool, err := semaphore.New(locker, "exports", 1)
	if err != nil {
		log.Fatal(err)
	}
	permit, err := pool.TryAcquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = pool.TryAcquire(ctx)
	fmt.Println(err)
	fmt.Println("released:", permit.Release(ctx) == nil)
	// Output:
	// semaphore "exports": no permit is free: 1 slots; 1 in use by this process
	// released: true
}

func Example_resize() {
	ctx := context.Background()
	locker, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	before, err := semaphore.New(locker, "exports", 2)
	if err != nil {
		log.Fatal(err)
	}
	permit, err := before.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("resized:", locker.Resize(ctx, "exports", 2, 5) == nil)
	_, err = before.TryAcquire(ctx)
	var other *lock.SlotsError
	if errors.As(err, &other) {
		fmt.Println("the nodes know", other.Other, "slots, not", other.Slots)
	}
	fmt.Println("released:", permit.Release(ctx) == nil)
	// Output:
	// resized: true
	// the nodes know 5 slots, not 2
	// released: true
}
