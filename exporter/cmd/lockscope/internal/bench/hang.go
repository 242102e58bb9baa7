package bench

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// hang makes the connections of one client stop on command, as those to a server that hangs do. Nothing that is sent
// after that reaches the server.
type hang struct{ now atomic.Bool }

// client is another client of the same server, behind the hang. The caller closes it.
func (h *hang) client(of *redis.Client) *redis.Client {
	opt := *of.Options()
	dial := opt.Dialer
	opt.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &hangingConn{Conn: conn, hung: &h.now}
		if raw, ok := conn.(syscall.Conn); ok {
			return &rawHangingConn{c, raw}, nil
		}
		return c, nil
	}
	return redis.NewClient(&opt)
}

// hangingConn drops what is written and what arrives while it hangs. A read then ends with its deadline, or with Close.
type hangingConn struct {
	net.Conn
	hung *atomic.Bool
}

// Write implements net.Conn.
func (c *hangingConn) Write(b []byte) (int, error) {
	if c.hung.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// Read implements net.Conn.
func (c *hangingConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.hung.Load() {
			return n, err
		}
	}
}

// rawHangingConn lets the lanes see whether the server has closed it.
type rawHangingConn struct {
	*hangingConn
	raw syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (c *rawHangingConn) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }
