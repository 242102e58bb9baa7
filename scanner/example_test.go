package scanner_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
)

// A lock without a TTL, which no library would ever release, is found.
func ExampleNew() {
	ctx := context.Background()
	server, err := redisproc.Start(ctx) // a Redis for this example
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	client.Set(ctx, "lock:order:1001", "a worker that died", 0)

	s, err := scanner.New([]redis.UniversalClient{client})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	r, err := s.Sweep(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range r.Findings {
		fmt.Println(f.Class, inspect.KeyText(f.Key))
	}
	// Output:
	// no_ttl lock:order:1001
}

// One sweep, as a cron job does it.
func ExampleScanner_Sweep() {
	s, err := scanner.Open([]string{"redis://localhost:6379"}, scanner.WithMaxValues(scanner.AllValues))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	r, err := s.Sweep(context.Background())
	if err != nil {
		fmt.Println(err) // the other nodes are in the report
	}
	for _, f := range r.Findings {
		fmt.Println(f.Class, f.Node, inspect.KeyText(f.Key), f.Evidence)
	}
}

// A scanner in every replica of a service. One of them sweeps.
func ExampleWithLocker() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	clients := []redis.UniversalClient{client}
	locker, err := redlock.New(clients)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer locker.Close()
	s, err := scanner.New(clients,
		scanner.WithLocker(locker, "leak-scanner"),
		scanner.WithInterval(time.Minute),
		scanner.WithLogger(slog.Default()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if err := s.Start(); err != nil {
		fmt.Println(err)
	}
}
