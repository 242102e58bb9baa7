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
// connected yet. The caller closes the derived client. Its connections are noted in open.
func Connect(given *redis.Client, name string, open *Connections) *redis.Client {
	opt := redisconn.Standalone(given, limits(), introduce(name))
	opt.ClientName = ""
	opt.Dialer = open.dialing(opt.Dialer, opt)
	return redis.NewClient(opt)
}

// ConnectCluster is [Connect] for a cluster's client. The derived one sends every
// command to a master.
func ConnectCluster(given *redis.ClusterClient, name string, open *Connections) *redis.ClusterClient {
	opt := redisconn.Cluster(given, limits(), introduce(name))
	opt.ClientName = ""
	opt.Dialer = open.dialing(opt.Dialer, &redis.Options{DialTimeout: opt.DialTimeout, TLSConfig: opt.TLSConfig})
	return redis.NewClusterClient(opt)
}

// introduce gives a connection its name, and asks that what it reads does not count as
// use: OBJECT IDLETIME is all there is to tell the age of a foreign lock. Redis has that
// from 7.2 on. Both happen if the server lets it: the right to do so is not worth failing
// for, and go-redis' own way of giving names would.
func introduce(name string) redisconn.OnConnect {
	return func(ctx context.Context, cn *redis.Conn) error {
		pipe := cn.Pipeline()
		replies := []redis.Cmder{pipe.ClientSetName(ctx, name), pipe.Do(ctx, "client", "no-touch", "on")}
		_, _ = pipe.Exec(ctx)
		for _, reply := range replies {
			if err := reply.Err(); err != nil && !redisconn.IsReply(err) {
				return err
			}
		}
		return nil
	}
}
