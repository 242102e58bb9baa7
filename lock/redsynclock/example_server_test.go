package redsynclock_test

import (
	"context"
	"log"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// startRedis starts a server, for the examples.
func startRedis(ctx context.Context) (addr string, stop func()) {
	server, err := redisproc.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	return server.Addr(), func() { _ = server.Stop() }
}
