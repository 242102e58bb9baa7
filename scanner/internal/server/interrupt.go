package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// Connections tracks the open connections of clients, so that waits on them can be interrupted. go-redis does not
// detect a cancelled context while it reads. The zero value is ready. It is safe for concurrent use.
type Connections struct {
	mu   sync.Mutex
	open map[net.Conn]struct{}
}

// Interrupt closes all connections. Clients go on with new ones.
func (c *Connections) Interrupt() {
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
func (c *Connections) dialing(dial dialer, opt *redis.Options) dialer {
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
	of *Connections
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
