package discover_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/scanner/discover"
)

// Libraries are recognised by the form of their values.
func ExampleSample() {
	ctx := context.Background()
	server, err := redisproc.Start(ctx) // a Redis for this example
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	client.Set(ctx, "lock:order:1001", "YSByYW5kb20gdG9rZW4hIQ==", time.Minute) // as redsync writes it

	result, err := discover.Sample(ctx, client, discover.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Found {
		fmt.Println(f.Library, f.Pattern, f.Confidence)
	}
	// Output:
	// redsync lock:order:* medium
}
