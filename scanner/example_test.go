package scanner_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"

	"github.com/redis/go-redis/v9"

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
	report, err := s.Sweep(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Findings {
		fmt.Println(f.Class, scanner.KeyText(f.Key))
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
	report, err := s.Sweep(context.Background())
	if err != nil {
		fmt.Println(err) // the other nodes are in the report
	}
	for _, f := range report.Findings {
		fmt.Println(f.Class, f.Node, scanner.KeyText(f.Key), f.Evidence)
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

// Another system's report beside that of Redis: a row of PostgreSQL that nothing will remove, and a server that was not
// read.
func ExampleMergeReports() {
	swept := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	redis := scanner.Report{Started: swept,
		Nodes: []scanner.NodeReport{{Node: "redis-1:6379", Group: "orders", Locks: 3}}}
	postgres := scanner.Report{
		Started: swept,
		Nodes: []scanner.NodeReport{
			{Node: "pg-1:5432", Group: "billing", Locks: 1},
			{Node: "pg-2:5432", Group: "billing", Gaps: []scanner.Gap{{
				Reason: scanner.ReasonNodeFailed, Node: "pg-2:5432", Group: "billing", Detail: "connection refused",
			}}},
		},
		Findings: []scanner.Finding{{
			Class: scanner.NoTTL, Node: "pg-1:5432", Group: "billing", Key: "invoice:7", Type: "row", TTL: -1,
			Confirmed: true,
			Evidence:  "the row has no time at which it expires",
		}},
	}
	all := scanner.MergeReports(redis, postgres)
	for _, f := range all.Findings {
		fmt.Println(f.Group, f.Node, f.Class, f.Key+":", f.Evidence)
	}
	for _, gap := range all.Incomplete() {
		fmt.Println(gap.Group, gap.Node, gap.Reason)
	}
	// Output:
	// billing pg-1:5432 no_ttl invoice:7: the row has no time at which it expires
	// billing pg-2:5432 node_failed
}
