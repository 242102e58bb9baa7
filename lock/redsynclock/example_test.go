package redsynclock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	client "github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redsynclock"
)

// A locker on redsync's pools. Plain redsync respects its locks, and it respects redsync's.
func Example() {
	ctx := context.Background()
	addr, stop := startRedis(ctx)
	defer stop()

	c := client.NewClient(&client.Options{Addr: addr})
	defer c.Close()
	pool := goredis.NewPool(c)
	locker, err := redsynclock.New([]redis.Pool{pool})
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	err = lock.Do(ctx, locker, "order:1001", func(context.Context, lock.Lease) error {
		plain := redsync.New(pool).NewMutex("order:1001", redsync.WithTries(1))
		fmt.Println("plain redsync is refused:", plain.Lock() != nil)
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// plain redsync is refused: true
	// error: <nil>
}

// Code that calls redsync's methods keeps them.
func ExampleOver() {
	ctx := context.Background()
	addr, stop := startRedis(ctx)
	defer stop()

	c := client.NewClient(&client.Options{Addr: addr})
	defer c.Close()
	locker, err := redsynclock.New([]redis.Pool{goredis.NewPool(c)})
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	rs := redsynclock.Over(locker) // was redsync.New(pool)

	mutex := rs.NewMutex("order:1001", redsync.WithExpiry(8*time.Second))
	if err := mutex.LockContext(ctx); err != nil {
		log.Fatal(err)
	}
	ok, err := mutex.UnlockContext(ctx)
	fmt.Println("unlocked:", ok, err)
	// Output:
	// unlocked: true <nil>
}
