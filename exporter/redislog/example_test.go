package redislog_test

import (
	"context"
	"log/slog"
	"os"

	"github.com/lockscope/lockscope/exporter/redislog"
)

// Lines of one kind are logged at most once in ten seconds. A program passes the Logger to redis.SetLogger, or calls
// Attach instead.
func ExampleNew() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	l := redislog.New(logger)
	for range 3 {
		l.Printf(context.Background(), "dial failed: %s", "connection refused")
	}
	// Output:
	// level=WARN msg="dial failed: connection refused" library=go-redis
}
