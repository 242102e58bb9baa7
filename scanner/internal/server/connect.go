package server

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
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

// SentinelAddress is what go-redis calls the address of a Sentinel failover client.
const SentinelAddress = "FailoverClient"

// Connect derives a client of one's own, whose connections have that name in CLIENT
// LIST, from the given one, which stays as it is: to scan must neither take its
// connections from the service that shares it, nor its timeouts. Nothing is
// connected yet. The caller closes the derived client.
func Connect(given *redis.Client, name string) *redis.Client {
	opt := *given.Options()
	opt.ClientName, opt.OnConnect = "", named(name, opt.OnConnect)
	opt.PoolSize, opt.MaxActiveConns, opt.MinIdleConns = poolSize, poolSize, 0
	opt.MaxRetries, opt.DialerRetries = maxRetries, 1
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = commandTimeout, commandTimeout, commandTimeout
	opt.PoolTimeout = 2 * commandTimeout
	opt.ContextTimeoutEnabled = true
	opt.DisableIdentity = true
	opt.Limiter = nil
	opt.ClientSideCache, opt.ClientSideCacheConfig = nil, nil
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewClient(&opt)
}

// ConnectCluster is [Connect] for a cluster's client. The derived one sends every
// command to a master.
func ConnectCluster(given *redis.ClusterClient, name string) *redis.ClusterClient {
	opt := *given.Options()
	opt.ClientName, opt.OnConnect = "", named(name, opt.OnConnect)
	opt.PoolSize, opt.MaxActiveConns, opt.MinIdleConns = poolSize, poolSize, 0
	opt.MaxRetries, opt.DialerRetries = maxRetries, 1
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = commandTimeout, commandTimeout, commandTimeout
	opt.PoolTimeout = 2 * commandTimeout
	opt.ContextTimeoutEnabled = true
	opt.DisableIdentity = true
	opt.ReadOnly, opt.RouteByLatency, opt.RouteRandomly = false, false, false
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewClusterClient(&opt)
}

// named gives a connection its name, if the server lets it: the right to do so is
// not worth failing for, and go-redis' own way of doing it would.
func named(name string, first func(context.Context, *redis.Conn) error) func(context.Context, *redis.Conn) error {
	return func(ctx context.Context, cn *redis.Conn) error {
		if first != nil {
			if err := first(ctx, cn); err != nil {
				return err
			}
		}
		if err := cn.ClientSetName(ctx, name).Err(); err != nil && !IsReply(err) {
			return err
		}
		return nil
	}
}

// Address is how people name the server and database of a client: host:port, and
// /db if that is not 0. All Sentinel failover clients have [SentinelAddress].
func Address(opt *redis.Options) string {
	if opt.Addr != SentinelAddress && opt.DB != 0 {
		return opt.Addr + "/" + strconv.Itoa(opt.DB)
	}
	return opt.Addr
}

// ClusterAddress is how people name a cluster: by the first of its addresses.
func ClusterAddress(opt *redis.ClusterOptions) string {
	if len(opt.Addrs) == 0 {
		return "cluster"
	}
	return "cluster:" + opt.Addrs[0]
}
