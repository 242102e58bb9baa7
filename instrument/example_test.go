package instrument_test

import (
	"context"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

func ExampleWrap() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	redlock, err := redlock.New([]redis.UniversalClient{client})
	if err != nil {
		panic(err)
	}
	registry := prometheus.NewRegistry() // serve it with promhttp
	locker, err := instrument.Wrap(redlock,
		instrument.WithRegisterer(registry),
		instrument.WithLogger(slog.New(slog.NewJSONHandler(os.Stderr, nil))))
	if err != nil {
		panic(err)
	}
	_ = lock.Do(context.Background(), locker, "order:1001", func(ctx context.Context, lease lock.Lease) error {
		return nil // charge the order, with lease.Fence()
	})
}
