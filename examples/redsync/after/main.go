// After is the service of ../before, with metrics at /metrics and the live page at
// /debug/locks.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/lock/redsynclock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	pool := goredis.NewPool(redis.NewClient(&redis.Options{Addr: os.Args[1]}))
	locker, err := redsynclock.New([]redsyncredis.Pool{pool})
	if err != nil {
		log.Fatal(err)
	}
	locks, err := observe.New(locker, observe.Config{})
	if err != nil {
		log.Fatal(err)
	}
	locks.Mount(http.DefaultServeMux)
	go func() { log.Print(http.ListenAndServe(os.Args[2], nil)) }()
	rs := redsynclock.Over(locks)

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
