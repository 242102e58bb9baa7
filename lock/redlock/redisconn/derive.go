// Package redisconn is shared by all parts of lockscope that talk to Redis. It derives clients from a
// given one, calls scripts by their hash, and removes arguments from server errors. It is for
// lockscope's own packages and tools; users of locks need package redlock only.
package redisconn

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// SentinelAddress is go-redis' address of a Sentinel failover client.
const SentinelAddress = "FailoverClient"

// OnConnect runs on a new connection before it carries a command.
type OnConnect = func(ctx context.Context, cn *redis.Conn) error

// Limits bounds a derived client's calls. PoolSize 0 keeps the given client's size.
type Limits struct {
	Dial, Call, Pool time.Duration // to connect; to read or write; to get a connection
	Retries          int           // of a command whose connection failed; 0 for none
	PoolSize         int
}

// Standalone returns options for a client of your own, derived from the given client's: the same
// address, credentials, TLS, dialer and connection hooks, with these limits. The derived client dials
// once, uses the deadlines of contexts, and sends no commands that need extra rights. then runs on
// each new connection, after the given client's own OnConnect. The given client does not change.
func Standalone(given *redis.Client, l Limits, then OnConnect) *redis.Options {
	opt := *given.Options()
	opt.MaxRetries, opt.DialerRetries = l.retries(), 1
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout, opt.PoolTimeout = l.Dial, l.Call, l.Call, l.Pool
	opt.ContextTimeoutEnabled = true
	opt.MinIdleConns = 0
	if l.PoolSize > 0 {
		opt.PoolSize, opt.MaxActiveConns = l.PoolSize, l.PoolSize
	}
	opt.DisableIdentity = true
	opt.Limiter = nil
	opt.ClientSideCache, opt.ClientSideCacheConfig = nil, nil
	opt.MaintNotificationsConfig = NoMaintNotifications()
	opt.OnConnect = Chain(opt.OnConnect, then)
	return &opt
}

// Cluster is like [Standalone], for a cluster client. The derived client sends every command to a
// master.
func Cluster(given *redis.ClusterClient, l Limits, then OnConnect) *redis.ClusterOptions {
	opt := *given.Options()
	opt.MaxRetries, opt.DialerRetries = l.retries(), 1
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout, opt.PoolTimeout = l.Dial, l.Call, l.Call, l.Pool
	opt.ContextTimeoutEnabled = true
	opt.MinIdleConns = 0
	if l.PoolSize > 0 {
		opt.PoolSize, opt.MaxActiveConns = l.PoolSize, l.PoolSize
	}
	opt.DisableIdentity = true
	opt.ReadOnly, opt.RouteByLatency, opt.RouteRandomly = false, false, false
	opt.MaintNotificationsConfig = NoMaintNotifications()
	opt.OnConnect = Chain(opt.OnConnect, then)
	return &opt
}

// NoMaintNotifications keeps go-redis from asking servers to announce their maintenance. With the type of the endpoint
// left open, each new client looks its address up in the DNS, a socket's path and [SentinelAddress] too, and waits for
// up to two seconds where the DNS is slow: every connection of ours is a client of its own.
func NoMaintNotifications() *maintnotifications.Config {
	return &maintnotifications.Config{
		Mode: maintnotifications.ModeDisabled, EndpointType: maintnotifications.EndpointTypeNone,
	}
}

// retries translates Retries for go-redis, where 0 means three retries.
func (l Limits) retries() int {
	if l.Retries == 0 {
		return -1
	}
	return l.Retries
}

// Chain returns a function that runs first, then then. Either may be nil.
func Chain(first, then OnConnect) OnConnect {
	switch {
	case first == nil:
		return then
	case then == nil:
		return first
	}
	return func(ctx context.Context, cn *redis.Conn) error {
		if err := first(ctx, cn); err != nil {
			return err
		}
		return then(ctx, cn)
	}
}

// Name returns the name of a client's server and database: host:port, followed by /db if db is not 0. For
// Sentinel failover clients it is [SentinelAddress].
func Name(opt *redis.Options) string {
	if opt.Addr != SentinelAddress && opt.DB != 0 {
		return opt.Addr + "/" + strconv.Itoa(opt.DB)
	}
	return opt.Addr
}

// ClusterName returns the name of a cluster: "cluster:" and its first address.
func ClusterName(opt *redis.ClusterOptions) string {
	if len(opt.Addrs) == 0 {
		return "cluster"
	}
	return "cluster:" + opt.Addrs[0]
}
