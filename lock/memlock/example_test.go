package memlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// A test takes the lock away from its holder, and then the quorum from all callers.
func Example() {
	ctx := context.Background()
	nodes := memlock.NewNodes(3)
	locker, err := memlock.New(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()

	lease, err := locker.Acquire(ctx, "order:1001")
	if err != nil {
		log.Fatal(err)
	}
	if err := locker.Lose("order:1001"); err != nil {
		log.Fatal(err)
	}
	<-lease.Context().Done()
	fmt.Println("lost:", errors.Is(context.Cause(lease.Context()), lock.ErrLost))

	nodes.NoQuorum()
	_, err = locker.Acquire(ctx, "order:1001", lock.NoWait())
	fmt.Println("while two nodes are down:", lock.ReasonOf(err))

	nodes.Recover()
	lease, err = locker.Acquire(ctx, "order:1001")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// lost: true
	// while two nodes are down: no_quorum
	// released: true
}
