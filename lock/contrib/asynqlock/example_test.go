package asynqlock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hibiken/asynq"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/asynqlock"
	"github.com/lockscope/lockscope/lock/memlock"
)

func ExampleMiddleware() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	mux := asynq.NewServeMux() // for asynq.Server.Run
	mux.Use(asynqlock.Middleware(locker, asynqlock.Key, nil, lock.MaxHold(time.Hour)))
	mux.HandleFunc("charge", func(ctx context.Context, task *asynq.Task) error {
		fmt.Println("holds the lock of this task, with a fencing token:", lock.HeldLeases(ctx)[0].Fence > 0)
		return nil
	})
	fmt.Println(mux.ProcessTask(context.Background(), asynq.NewTask("charge", []byte(`{"order":"1001"}`))))
	// Output:
	// holds the lock of this task, with a fencing token: true
	// <nil>
}
