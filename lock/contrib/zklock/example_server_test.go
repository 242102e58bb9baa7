package zklock_test

import (
	"context"
	"log"

	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
)

// startZooKeeper starts an ensemble of one server, for the examples.
func startZooKeeper(ctx context.Context) (servers []string, stop func()) {
	ensemble, err := zkproc.Start(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	return ensemble.Addrs(), func() { _ = ensemble.Stop() }
}
