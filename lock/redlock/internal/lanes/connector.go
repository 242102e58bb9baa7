package lanes

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/dial"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Config is what derived connections get beside the given client's options.
type Config struct {
	Clock   func() time.Duration
	Timeout time.Duration // the longest of any command
	Hooks   []redis.Hook
}

// Connector makes connections with the address, credentials, TLS, dialer and hooks of the caller's client. They do not
// retry, as voting requires.
type Connector struct {
	given  *redis.Client
	opt    redis.Options
	hooks  []redis.Hook
	dials  *dial.Dials
	dial   dial.Func
	master *dial.Master // nil without Sentinel
}

const (
	// socketTimeouts is how many node timeouts a reply may take until the connection is given
	// up. No call waits that long, so connections survive a pause of the server.
	socketTimeouts   = 4
	minSocketTimeout = time.Second
)

// NewConnector derives the connections from the given client's.
func NewConnector(given *redis.Client, c Config) *Connector {
	opt := redisconn.Standalone(given, redisconn.Limits{
		Dial: dial.Timeout(c.Timeout), Call: max(socketTimeouts*c.Timeout, minSocketTimeout), Pool: c.Timeout,
		PoolSize: 2,
	}, nil)
	// The older protocol: nothing here uses push messages, and checking for them costs a
	// system call with every command.
	opt.Protocol = 2
	opt.ContextTimeoutEnabled = false // the lanes know the deadlines
	// Only one connection is made; in a pool of size one, go-redis would keep dialling by itself after a failure.
	behindSentinel := opt.Addr == redisconn.SentinelAddress
	if behindSentinel {
		opt.Dialer = dial.Patient(opt.Dialer)
	}
	dials := dial.New(opt.Dialer, given.Options().DialTimeout)
	k := &Connector{given: given, opt: *opt, hooks: c.Hooks, dials: dials, dial: dials.Connect}
	if behindSentinel {
		k.master = dial.WatchMaster(dials.Connect, c.Clock, c.Timeout)
		k.dial = k.master.Connect
	}
	return k
}

// connection returns a connection that is not open yet, to a server that the guard examines.
func (k *Connector) connection(g *guard.Guard, s *scripts.Set) *connection {
	c := &connection{scripts: s}
	opt := k.opt
	opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := k.dial(ctx, network, addr)
		if err == nil {
			c.socket.Store(&conn)
		}
		return conn, err
	}
	opt.OnConnect = redisconn.Chain(opt.OnConnect, func(ctx context.Context, cn *redis.Conn) error {
		return c.examine(ctx, cn, g)
	})
	c.own = redis.NewClient(&opt)
	for _, h := range k.hooks {
		c.own.AddHook(h)
	}
	c.sticky = c.own.Conn()
	c.hooked = k.given.Conn() // the only copy of a client that keeps its hooks; it takes no connection
	c.hooked.AddHook(divert{c.sticky})
	return c
}

// Subscriber returns a client for subscriptions only.
func (k *Connector) Subscriber() *redis.Client {
	opt := k.opt
	opt.Dialer, opt.ContextTimeoutEnabled = k.dial, true
	s := redis.NewClient(&opt)
	for _, h := range k.hooks {
		s.AddHook(h)
	}
	return s
}

// followsMaster reports whether Sentinel chooses the server.
func (k *Connector) followsMaster() bool { return k.master != nil }

// check makes sure that connections lead to the master, if Sentinel chooses the server.
func (k *Connector) check(ctx context.Context) {
	if k.master != nil {
		k.master.Check(ctx)
	}
}

// suspect notes that a connection failed: the master may be another server by now.
func (k *Connector) suspect() {
	if k.master != nil {
		k.master.Suspect()
	}
}

// Close waits for the dials under way.
func (k *Connector) Close() error {
	if k.master != nil {
		k.master.Close()
	}
	return k.dials.Close()
}
