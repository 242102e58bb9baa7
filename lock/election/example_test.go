package election_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/memlock"
)

func ExampleRun() {
	locker, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	ctx, shutDown := context.WithCancel(context.Background())
	err = election.Run(ctx, locker, "billing", func(ctx context.Context, term election.Term) error {
		fmt.Println("leads, in a term with a number:", term.Number() > 0)
		shutDown() // what a signal would do
		<-ctx.Done()
		fmt.Println("stops:", context.Cause(ctx))
		return nil
	})
	fmt.Println(err)
	// Output:
	// leads, in a term with a number: true
	// stops: context canceled
	// context canceled
}

// An observer sees the leader and the vacancy after it, and takes part in neither.
func ExampleObserve() {
	nodes := memlock.NewNodes(3)
	candidate, err := memlock.New(nodes, lock.WithInstance("app-1"))
	if err != nil {
		log.Fatal(err)
	}
	defer candidate.Close()
	observer, err := memlock.New(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer observer.Close()
	ctx := context.Background()
	term, err := election.Campaign(ctx, candidate, "billing")
	if err != nil {
		log.Fatal(err)
	}
	led := false
	for seen, err := range election.Observe(ctx, observer, "billing", election.Interval(10*time.Millisecond)) {
		switch {
		case err != nil:
			fmt.Println("cannot tell:", err)
		case !seen.Vacant && !led:
			led = true
			fmt.Println(seen.Leader.Instance, "leads in this term:", seen.Term == term.Number())
			_ = term.Resign(ctx)
		case seen.Vacant && led:
			fmt.Println("nobody leads")
			return
		}
	}
	// Output:
	// app-1 leads in this term: true
	// nobody leads
}
