package redisconn_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// TestNoLookupWithoutDialling: clients are made for every connection, on goroutines that carry commands. Making one
// must not look up the server's name.
func TestNoLookupWithoutDialling(t *testing.T) {
	var asked atomic.Int32
	given := net.DefaultResolver
	defer func() { net.DefaultResolver = given }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		asked.Add(1)
		return nil, errors.New("no DNS in this test")
	}}

	single := redis.NewClient(&redis.Options{Addr: "r1.example.test:6379"})
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"r1.example.test:6379"}})
	sentinel := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}})
	if asked.Load() == 0 {
		t.Fatal("go-redis does not look names up any more: NoMaintNotifications need not say so")
	}
	asked.Store(0)

	_, closeAll, err := redlock.NewClients([]string{"redis://r1.example.test:6379", "unix:///run/redis.sock"})
	if err != nil {
		t.Fatal(err)
	}
	derived := []redis.UniversalClient{
		redis.NewClient(redisconn.Standalone(single, redisconn.Limits{}, nil)),
		redis.NewClient(redisconn.Standalone(sentinel, redisconn.Limits{}, nil)),
		redis.NewClusterClient(redisconn.Cluster(cluster, redisconn.Limits{}, nil)),
	}
	for _, c := range append(derived, single, cluster, sentinel) {
		defer c.Close()
	}
	if err := closeAll(); err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d questions to the DNS", n)
	}
}
