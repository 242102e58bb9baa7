package server

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/redis/go-redis/v9"
)

const (
	// commandTimeout bounds each read and write on a connection: far more than a
	// page takes, even of a busy server.
	commandTimeout = 5 * time.Second
	// poolSize lets a page and a comparison with other nodes go on at a time.
	poolSize = 2
	// maxRetries is safe, as all commands only read, and bridges a lost connection.
	maxRetries = 1
)

func limits() redisconn.Limits {
	return redisconn.Limits{
		Dial: commandTimeout, Call: commandTimeout, Pool: 2 * commandTimeout, Retries: maxRetries, PoolSize: poolSize,
	}
}

// Connect derives a client of one's own, whose connections have that name in CLIENT
// LIST, from the given one, which stays as it is: to scan must neither take its
// connections from the service that shares it, nor its timeouts. Nothing is
// connected yet. The caller closes the derived client.
func Connect(given *redis.Client, name string) *redis.Client {
	opt := redisconn.Standalone(given, limits(), setName(name))
	opt.ClientName = ""
	return redis.NewClient(opt)
}

// ConnectCluster is [Connect] for a cluster's client. The derived one sends every
// command to a master.
func ConnectCluster(given *redis.ClusterClient, name string) *redis.ClusterClient {
	opt := redisconn.Cluster(given, limits(), setName(name))
	opt.ClientName = ""
	return redis.NewClusterClient(opt)
}

// setName gives a connection its name, if the server lets it: the right to do so is
// not worth failing for, and go-redis' own way of doing it would.
func setName(name string) redisconn.OnConnect {
	return func(ctx context.Context, cn *redis.Conn) error {
		if err := cn.ClientSetName(ctx, name).Err(); err != nil && !redisconn.IsReply(err) {
			return err
		}
		return nil
	}
}
