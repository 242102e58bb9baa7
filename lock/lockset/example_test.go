package lockset_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lockscope/lockscope/lock/lockset"
	"github.com/lockscope/lockscope/lock/memlock"
)

func ExampleDo() {
	locker, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	err = lockset.Do(context.Background(), locker, []string{"account:42", "account:17"},
		func(ctx context.Context, set *lockset.Set) error {
			fmt.Println("holds", set.Names(), "with", len(set.Fences()), "fencing tokens")
			return nil
		})
	fmt.Println(err)
	// Output:
	// holds [account:17 account:42] with 2 fencing tokens
	// <nil>
}
