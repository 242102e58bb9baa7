package redlock

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// connector makes connections with the caller's client's address, credentials, TLS,
// dialer and hooks, and with the lack of retries that voting needs.
type connector struct {
	given *redis.Client
	opt   redis.Options
	hooks []redis.Hook
	dials *dials
	dial  dialer
	watch *masterWatch // nil without Sentinel
}

const (
	// dialTimeouts is how many node timeouts a connection may take to be made. No call
	// waits that long: the connection, slowed down by a TLS handshake perhaps, is there
	// for the next.
	dialTimeouts = 4
	// socketTimeouts is how many a reply may take until the connection is given up. No
	// call waits that long either: a server that goes on after a pause finds its
	// connections where they were.
	socketTimeouts   = 4
	minSocketTimeout = time.Second
)

func newConnector(given *redis.Client, c derivation) *connector {
	opt := redisconn.Standalone(given, redisconn.Limits{
		Dial: dialTimeouts * c.timeout, Call: max(socketTimeouts*c.timeout, minSocketTimeout), Pool: c.timeout, PoolSize: 2,
	}, nil)
	// The older protocol: what a server may push is never asked for, and looking for it
	// costs a system call with every command.
	opt.Protocol = 2
	opt.ContextTimeoutEnabled = false // the lanes know the deadlines
	// One connection is all that is made; in a pool of one, go-redis would go on dialling by itself once it failed.
	k := &connector{given: given, opt: *opt, hooks: c.hooks, dials: newDials(opt.Dialer, lateDialTime(given.Options().DialTimeout))}
	k.dial = k.dials.connect
	if opt.Addr == redisconn.SentinelAddress {
		k.watch = newMasterWatch(k.dials.connect, c.clock, c.timeout)
		k.dial = k.watch.connect
	}
	return k
}

// name and address are the server's; the address is "" where it is not known.
func (k *connector) name() string { return redisconn.Name(&k.opt) }

func (k *connector) address() string {
	if k.watch != nil {
		return ""
	}
	return k.opt.Network + "!" + k.opt.Addr
}

// connection makes one that is not open yet, for a server that the guard examines.
func (k *connector) connection(g *guard.Guard) *connection {
	c := new(connection)
	opt := k.opt
	opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := k.dial(ctx, network, addr)
		if err == nil {
			c.socket.Store(&conn)
		}
		return conn, err
	}
	opt.OnConnect = redisconn.Chain(opt.OnConnect, func(ctx context.Context, cn *redis.Conn) error { return c.examine(ctx, cn, g) })
	c.own = redis.NewClient(&opt)
	for _, h := range k.hooks {
		c.own.AddHook(h)
	}
	c.sticky = c.own.Conn()
	c.hooked = k.given.Conn() // the only copy of a client that keeps its hooks; it takes no connection
	c.hooked.AddHook(divert{c.sticky})
	return c
}

// subscriber is a client for subscriptions alone.
func (k *connector) subscriber() *redis.Client {
	opt := k.opt
	opt.Dialer, opt.ContextTimeoutEnabled = k.dial, true
	s := redis.NewClient(&opt)
	for _, h := range k.hooks {
		s.AddHook(h)
	}
	return s
}

// check makes sure, where Sentinel says who the server is, that connections lead there.
func (k *connector) check(ctx context.Context) {
	if k.watch != nil {
		k.watch.check(ctx)
	}
}

// doubt says that a connection failed: the server may be another one by now.
func (k *connector) doubt() {
	if k.watch != nil {
		k.watch.doubt()
	}
}
