package pglock

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connectTimeout bounds a connection attempt that no call waits for any more, unless the
// configuration sets a shorter one.
const connectTimeout = 10 * time.Second

// noPrepare is the mode of all queries. By default pgx prepares statements, which belong to a
// session. Behind pgbouncer the next call may get another session, where the statement is
// missing (26000) or its name is taken (42P05).
const noPrepare = pgx.QueryExecModeExec

// pool is the connections for commands.
type pool struct {
	*pgxpool.Pool
	dials *dials
}

// openPool makes a pool from config, with the settings that locks need. It does not connect yet.
func openPool(config *pgxpool.Config, connections int32) (*pool, error) {
	config.MaxConns, config.MinConns, config.MinIdleConns = connections, 0, 1
	c := config.ConnConfig
	c.DefaultQueryExecMode, c.StatementCacheCapacity, c.DescriptionCacheCapacity = noPrepare, 0, 0
	limitConnect(c)
	d := &dials{open: make(map[net.Conn]struct{})}
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return d.begun(conn)
	}
	opened := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		d.done(conn.PgConn().Conn())
		if opened != nil {
			return opened(ctx, conn)
		}
		return nil
	}
	p, err := pgxpool.NewWithConfig(context.Background(), config)
	return &pool{p, d}, err
}

func limitConnect(c *pgx.ConnConfig) {
	if c.ConnectTimeout <= 0 || c.ConnectTimeout > connectTimeout {
		c.ConnectTimeout = connectTimeout
	}
}

// close cuts the dials, so it does not wait for a server that hangs.
func (p *pool) close() {
	p.dials.cut()
	p.Pool.Close()
}

// dials are the connections whose login is not complete.
type dials struct {
	mu     sync.Mutex
	closed bool
	open   map[net.Conn]struct{}
}

func (d *dials) begun(conn net.Conn) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	dialled := &dialled{conn, d}
	d.open[conn] = struct{}{}
	return dialled, nil
}

// done removes a connection, which may be wrapped in TLS by now.
func (d *dials) done(conn net.Conn) {
	for {
		switch c := conn.(type) {
		case *dialled:
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(d.open, c.Conn)
			return
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return
		}
	}
}

func (d *dials) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for conn := range d.open {
		_ = conn.Close()
	}
}

// dialled is a connection that leaves dials when it is closed.
type dialled struct {
	net.Conn
	dials *dials
}

// Close implements net.Conn.
func (c *dialled) Close() error {
	c.dials.done(c)
	return c.Conn.Close()
}
