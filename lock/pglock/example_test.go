package pglock_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/pglock"
)

// The owner of the database creates the schema once. The service then takes locks with a role that
// owns nothing.
func Example() {
	ctx := context.Background()
	ownerURL, serviceURL, stop := startPostgres(ctx)
	defer stop()

	owner, err := pgxpool.New(ctx, ownerURL)
	if err != nil {
		log.Fatal(err)
	}
	defer owner.Close()
	if err := pglock.Migrate(ctx, owner, pglock.DefaultSchema); err != nil {
		log.Fatal(err)
	}
	if err := pglock.Grant(ctx, owner, pglock.DefaultSchema, "service"); err != nil {
		log.Fatal(err)
	}

	locker, err := pglock.Open(serviceURL)
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	err = lock.Do(ctx, locker, "order:1001", func(_ context.Context, lease lock.Lease) error {
		fmt.Println("holding", lease.Resource(), "with a fencing token:", lease.Fence() > 0)
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// holding order:1001 with a fencing token: true
	// error: <nil>
}
