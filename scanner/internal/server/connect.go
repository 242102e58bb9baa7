package server

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/redis/go-redis/v9"
)

const (
	// commandTimeout bounds each read and write on a connection. It is far longer than a page takes, even on a busy
	// server.
	commandTimeout = 5 * time.Second
	// poolSize allows a page, a comparison with other nodes and a probe of the latency at the same time.
	poolSize = 3
	// maxRetries bridges a lost connection. It is safe because all commands only read.
	maxRetries = 1
)

func limits() redisconn.Limits {
	return redisconn.Limits{
		Dial: commandTimeout, Call: commandTimeout, Pool: 2 * commandTimeout, Retries: maxRetries, PoolSize: poolSize,
	}
}

// Connect derives a client from the given one, with its own connections and that name in CLIENT LIST. A scan must
// take neither connections nor timeouts from the service that owns the given client. Connect does not connect yet.
// The caller closes the derived client. open tracks its connections.
func Connect(given *redis.Client, name string, open *Connections) *redis.Client {
	opt := redisconn.Standalone(given, limits(), introduce(name))
	opt.ClientName = ""
	opt.Dialer = open.dialing(opt.Dialer, opt)
	return redis.NewClient(opt)
}

// ConnectCluster is [Connect] for a cluster's client. The derived client sends every command to a master.
func ConnectCluster(given *redis.ClusterClient, name string, open *Connections) *redis.ClusterClient {
	opt := redisconn.Cluster(given, limits(), introduce(name))
	opt.ClientName = ""
	opt.Dialer = open.dialing(opt.Dialer, &redis.Options{DialTimeout: opt.DialTimeout, TLSConfig: opt.TLSConfig})
	return redis.NewClusterClient(opt)
}

// introduce names a connection, and asks that its reads do not count as use of a key, because OBJECT IDLETIME is the
// only sign of the age of a foreign lock. Redis has that from 7.2 on. Both are optional: with go-redis' own option for
// the name, a missing right would fail the connection.
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
