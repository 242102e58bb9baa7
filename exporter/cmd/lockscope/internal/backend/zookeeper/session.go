package zookeeper

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// sessionReader dials for the client, which keeps to itself how long a session it is granted.
type sessionReader struct {
	mu      sync.Mutex
	granted time.Duration
}

func (r *sessionReader) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return &sessionConn{Conn: conn, reader: r}, nil
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
