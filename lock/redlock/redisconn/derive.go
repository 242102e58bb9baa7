// Package redisconn is what every part of lockscope that talks to Redis has in common:
// clients of one's own made from somebody else's, scripts called by their hash, and
// server errors that hold no argument. It is for lockscope's own packages and for tools
// beside them; users of locks need package redlock only.
package redisconn

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// SentinelAddress is what go-redis calls the address of a Sentinel failover client.
const SentinelAddress = "FailoverClient"

// OnConnect is what happens to a new connection before it carries a command.
type OnConnect = func(ctx context.Context, cn *redis.Conn) error

// Limits are what bounds a derived client's calls. A pool of size 0 is the given client's.
type Limits struct {
	Dial, Call, Pool time.Duration // to connect; to read or write; to get a connection
	Retries          int           // of a command whose connection failed; 0 for none
	PoolSize         int
}

// Standalone returns the given client's options, address, credentials, TLS, dialer and
// hooks of connections among them, for a client of one's own: with these limits, one
// dial attempt, deadlines that are those of contexts, and none of the commands that a
// user with few rights may not send. The given client stays as it is. then runs on
// each new connection after the given client's own OnConnect.
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

// Cluster is [Standalone] for a cluster's client. A client made of these options sends
// every command to a master.
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

// retries is what go-redis takes for so many: its 0 means three.
func (l Limits) retries() int {
	if l.Retries == 0 {
		return -1
	}
	return l.Retries
}

// Chain makes one of two, either of which may be nil.
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

// Name is how people name the server and database of a client: host:port, and /db if
// that is not 0. All Sentinel failover clients have [SentinelAddress].
func Name(opt *redis.Options) string {
	if opt.Addr != SentinelAddress && opt.DB != 0 {
		return opt.Addr + "/" + strconv.Itoa(opt.DB)
	}
	return opt.Addr
}

// ClusterName is how people name a cluster: by the first of its addresses.
func ClusterName(opt *redis.ClusterOptions) string {
	if len(opt.Addrs) == 0 {
		return "cluster"
	}
	return "cluster:" + opt.Addrs[0]
}
