package node

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
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
func Connect(given *redis.Client, name string, open *Sockets) *redis.Client {
	opt := redisconn.Standalone(given, limits(), introduce(name))
	opt.ClientName = ""
	opt.Dialer = open.dialing(opt.Dialer, opt)
	return redis.NewClient(opt)
}

// ConnectCluster is [Connect] for a cluster's client. The derived client sends every command to a master.
func ConnectCluster(given *redis.ClusterClient, name string, open *Sockets) *redis.ClusterClient {
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

// Sockets tracks the open connections of clients, so that waits on them can be interrupted. go-redis does not
// detect a cancelled context while it reads. The zero value is ready. It is safe for concurrent use.
type Sockets struct {
	mu   sync.Mutex
	open map[net.Conn]struct{}
}

// Interrupt closes all connections. Clients go on with new ones.
func (c *Sockets) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Close() // its waiters get an error
	}
	clear(c.open)
}

// dialer is the dial function of a client.
type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialing tracks the connections that dial makes.
func (c *Sockets) dialing(dial dialer, opt *redis.Options) dialer {
	if dial == nil {
		dial = redis.NewDialer(opt)
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open == nil {
			c.open = make(map[net.Conn]struct{})
		}
		c.open[conn] = struct{}{}
		noted := &notedConn{Conn: conn, of: c}
		if raw, ok := conn.(syscall.Conn); ok {
			return &rawConn{noted, raw}, nil
		}
		return noted, nil
	}
}

// notedConn is a tracked connection. Closing it ends the tracking.
type notedConn struct {
	net.Conn
	of *Sockets
}

func (c *notedConn) Close() error {
	c.of.mu.Lock()
	_, open := c.of.open[c.Conn]
	delete(c.of.open, c.Conn)
	c.of.mu.Unlock()
	if err := c.Conn.Close(); open || !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// rawConn lets go-redis see whether the other side has closed it.
type rawConn struct {
	*notedConn
	raw syscall.Conn
}

func (c *rawConn) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }
