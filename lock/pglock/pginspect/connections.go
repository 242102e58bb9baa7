package pginspect

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const closeTimeout = time.Second

// connections knows what pgx has dialled, also to cancel a statement.
type connections struct {
	dial pgconn.DialFunc

	mu   sync.Mutex
	all  map[net.Conn]struct{}
	over bool
}

func (c *connections) open(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	if c.all == nil {
		c.all = make(map[net.Conn]struct{})
	}
	c.all[conn] = struct{}{}
	return &connection{Conn: conn, of: c}, nil
}

// cut closes all connections, without a word to the server, and those to come.
func (c *connections) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for conn := range c.all {
		_ = conn.Close()
	}
}

type connection struct {
	net.Conn
	of *connections
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.all, c.Conn)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
