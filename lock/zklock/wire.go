package zklock

import (
	"bufio"
	"encoding/binary"
	"net"
	"time"
)

// wire is a connection on which the ensemble's first answer is read along: the client
// keeps to itself how long a session is allowed. It reads an answer at once of which the
// client asks for the length, and then for the rest.
type wire struct {
	net.Conn
	in   *bufio.Reader
	link *link
	head []byte // of the answer, until it is known
	read bool
}

// answerLength is that of the answer's beginning: length, protocol version, and the
// session's timeout in milliseconds, four bytes each.
const answerLength = 12

// Read implements net.Conn.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.in.Read(b)
	if !w.read && n > 0 {
		w.head = append(w.head, b[:n]...)
		if len(w.head) >= answerLength {
			ms := binary.BigEndian.Uint32(w.head[8:answerLength])
			w.link.allow(time.Duration(ms) * time.Millisecond)
			w.head, w.read = nil, true
		}
	}
	return n, err
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.link.forget(w.Conn)
	return w.Conn.Close()
}

// allow notes what the ensemble grants; a session that is refused has none.
func (l *link) allow(session time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if session > 0 {
		l.session = session
	}
}

func (l *link) forget(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, conn)
}
