package locktrace_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// A Trace receives events from inside a call: here, which caller waits for which holder.
func ExampleWith() {
	nodes := memlock.NewNodes(1)
	first, err := memlock.New(nodes, lock.WithInstance("checkout-1"))
	if err != nil {
		log.Fatal(err)
	}
	defer first.Close()
	second, err := memlock.New(nodes, lock.WithInstance("checkout-2"))
	if err != nil {
		log.Fatal(err)
	}
	defer second.Close()

	lease, err := first.Acquire(context.Background(), "order:1001")
	if err != nil {
		log.Fatal(err)
	}
	ctx := locktrace.With(context.Background(), &locktrace.Trace{
		WaitStart: func(ctx context.Context, e locktrace.WaitStart) context.Context {
			fmt.Printf("checkout-2 waits for %s, held by %s\n", e.Resource, e.Blocker.Holder.Instance)
			go lease.Release(context.Background())
			return ctx
		},
	})
	second.Acquire(ctx, "order:1001")
	// Output:
	// checkout-2 waits for order:1001, held by checkout-1
}
