package live_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
)

func Example() {
	board, err := live.New(live.WithInstance("billing/7"))
	if err != nil {
		log.Fatal(err)
	}
	locker, err := board.Wrap(&noop{}) // a *engine.Engine, or the result of instrument.Wrap
	if err != nil {
		log.Fatal(err)
	}
	err = lock.Do(context.Background(), locker, "order:1001", func(ctx context.Context, _ lock.Lease) error {
		for _, held := range board.State(ctx).Held {
			fmt.Println(held.Resource, "is held by", held.Holder)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(board.State(context.Background()).Held), "held afterwards")
	// Output:
	// order:1001 is held by billing/7
	// 0 held afterwards
}
