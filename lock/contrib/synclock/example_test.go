package synclock_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/synclock"
	"github.com/lockscope/lockscope/lock/memlock"
)

func Example() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	ctx, shutdown := context.WithCancel(context.Background())
	defer shutdown()
	m, err := synclock.New(ctx, locker, "report")
	if err != nil {
		log.Fatal(err)
	}
	m.Lock()
	fmt.Println(lock.HeldLeases(m.Context())[0].Resource, m.Context().Err())
	m.Unlock()
	fmt.Println(m.Err())
	// Output:
	// report <nil>
	// <nil>
}
