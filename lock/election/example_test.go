package election_test

import (
	"context"
	"fmt"
	"log"

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
