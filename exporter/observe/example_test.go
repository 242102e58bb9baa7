package observe_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// A lock on any nodes, here in memory, is observed and served on the program's own mux. On Redis, observe.Redis does
// the same with URLs.
func ExampleNew() {
	ctx := context.Background()
	locker, err := memlock.New(memlock.NewNodes(3), lock.WithInstance("orders-1"))
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	locks, err := observe.New(locker, observe.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Shutdown(ctx)
	mux := http.NewServeMux()
	locks.Mount(mux)

	err = lock.Do(ctx, locks, "order:1001", func(context.Context, lock.Lease) error {
		metrics := httptest.NewRecorder()
		mux.ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		for line := range strings.Lines(metrics.Body.String()) {
			if strings.HasPrefix(line, "distributed_lock_held{") {
				fmt.Print(line)
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// distributed_lock_held{resource="order:*"} 1
}
