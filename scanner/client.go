package scanner

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// ClientName is what the Scanner's connections are called in CLIENT LIST.
	ClientName = "lockscope-scanner"
	// commandTimeout bounds each read and write on a connection: far more than a
	// page takes, even of a busy server.
	commandTimeout = 5 * time.Second
	// poolSize lets a page and a comparison with other nodes go on at a time.
	poolSize = 2
	// maxRetries is safe, as all commands only read, and bridges a lost connection.
	maxRetries = 1
)

// sentinelAddr is what go-redis calls the address of a Sentinel failover client.
const sentinelAddr = "FailoverClient"

// deriveStandalone makes a client of the Scanner's own: a sweep must neither take
// the given one's connections from the service that shares it, nor its timeouts.
func deriveStandalone(given *redis.Client) *redis.Client {
	opt := *given.Options()
	opt.ClientName, opt.OnConnect = "", named(opt.OnConnect)
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

func deriveCluster(given *redis.ClusterClient) *redis.ClusterClient {
	opt := *given.Options()
	opt.ClientName, opt.OnConnect = "", named(opt.OnConnect)
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
func named(first func(context.Context, *redis.Conn) error) func(context.Context, *redis.Conn) error {
	return func(ctx context.Context, cn *redis.Conn) error {
		if first != nil {
			if err := first(ctx, cn); err != nil {
				return err
			}
		}
		if err := cn.ClientSetName(ctx, ClientName).Err(); err != nil && !isReply(err) {
			return err
		}
		return nil
	}
}

func standaloneName(opt *redis.Options) string {
	if opt.Addr != sentinelAddr && opt.DB != 0 {
		return opt.Addr + "/" + strconv.Itoa(opt.DB)
	}
	return opt.Addr
}

func clusterName(opt *redis.ClusterOptions) string {
	if len(opt.Addrs) == 0 {
		return "cluster"
	}
	return "cluster:" + opt.Addrs[0]
}
