package etcdlock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/etcdlock"
)

// The keep-alive settings make the client leave a member that stopped answering.
func Example() {
	ctx := context.Background()
	endpoints, stop := startEtcd(ctx)
	defer stop()

	client, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	locker, err := etcdlock.New(client)
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
