package zkinspect

import (
	"encoding/binary"
	"net"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// sessionReader dials for the client, which keeps to itself how long a session it is granted, and waits a minute for
// the first answer of a server that hangs.
type sessionReader struct {
	first time.Duration // to wait for that answer; 0: as long as the client wants

	mu      sync.Mutex
	granted time.Duration
	open    net.Conn // the client has one at a time
	closed  bool
}

// firstAnswer leaves time for other servers before connect gives up.
func firstAnswer(servers int) time.Duration {
	return inspect.DialTimeout / time.Duration(min(max(servers, 1), 3))
}

func (r *sessionReader) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	if r.first > 0 {
		timeout = min(timeout, r.first)
	}
	conn, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	r.open = conn
	return &sessionConn{Conn: conn, reader: r}, nil
}

// close ends what the client waits for.
func (r *sessionReader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.open != nil {
		_ = r.open.Close()
	}
}

// sessionConn reads the first answer along: length, protocol version and the session's
// timeout in milliseconds, four bytes each.
type sessionConn struct {
	net.Conn
	reader *sessionReader
	head   []byte
	read   bool
}

const sessionHead = 12

// SetReadDeadline implements net.Conn.
func (c *sessionConn) SetReadDeadline(t time.Time) error {
	if first := time.Now().Add(c.reader.first); !c.read && c.reader.first > 0 && t.After(first) {
		t = first
	}
	return c.Conn.SetReadDeadline(t)
}

// Read implements net.Conn.
func (c *sessionConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.read {
		return n, err
	}
	if c.head = append(c.head, b[:n]...); len(c.head) >= sessionHead {
		ms := binary.BigEndian.Uint32(c.head[sessionHead-4:])
		c.reader.mu.Lock()
		c.reader.granted = time.Duration(ms) * time.Millisecond
		c.reader.mu.Unlock()
		c.head, c.read = nil, true
	}
	return n, err
}
