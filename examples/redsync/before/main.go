// Before is a service that locks with redsync.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	pool := goredis.NewPool(redis.NewClient(&redis.Options{Addr: os.Args[1]}))
	rs := redsync.New(pool)

	for ctx.Err() == nil {
		mutex := rs.NewMutex("order:1001", redsync.WithExpiry(8*time.Second))
		if err := mutex.LockContext(ctx); err != nil {
			log.Print(err)
			continue
		}
		time.Sleep(100 * time.Millisecond) // the work
		if ok, err := mutex.Unlock(); !ok {
			log.Print(err)
		}
		time.Sleep(100 * time.Millisecond) // until the next
	}
}
