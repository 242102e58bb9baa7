package etcdlock_test

import (
	"context"
	"log"

	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
)

// startEtcd starts a cluster of one member, for the examples.
func startEtcd(ctx context.Context) (endpoints []string, stop func()) {
	cluster, err := etcdproc.Start(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	return cluster.Endpoints(), func() { _ = cluster.Stop() }
}
