package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// wire is a connection that also parses the ensemble's first answer, which has the session timeout: the
// client does not expose it. The client reads the length of an answer first, then the rest; wire reads
// both at once.
type wire struct {
	net.Conn
	in      *bufio.Reader
	session *Session
	head    []byte // of the answer, until it is known
	read    bool

	server   string
	patience time.Duration // for the answer
	cause    error         // why there is none
}

// answerLength is the length of the answer's first fields: length, protocol version and session timeout in
// milliseconds, four bytes each.
const answerLength = 12

// Read implements net.Conn.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.in.Read(b)
	if !w.read && err != nil {
		w.cause = err
	}
	if !w.read && n > 0 {
		w.head = append(w.head, b[:n]...)
		if len(w.head) >= answerLength {
			ms := binary.BigEndian.Uint32(w.head[8:answerLength])
			w.session.allow(time.Duration(ms) * time.Millisecond)
			w.head, w.read = nil, true
		}
	}
	return n, err
}

// Write implements net.Conn: with TLS it may be the first to fail.
func (w *wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if !w.read && err != nil {
		w.cause = err
	}
	return n, err
}

// SetReadDeadline implements net.Conn. It shortens the client's wait for the answer. Otherwise the client
// would never leave a server that accepts connections and then hangs.
func (w *wire) SetReadDeadline(t time.Time) error {
	if soon := time.Now().Add(w.patience); !w.read && t.After(soon) {
		t = soon
	}
	return w.Conn.SetReadDeadline(t)
}

// Close implements net.Conn.
func (w *wire) Close() error {
	if !w.read {
		w.session.failed(w.server, w.noAnswer())
	}
	w.session.forget(w.Conn)
	return w.Conn.Close()
}

// noAnswer is the error of a server that accepted the connection and then granted no session.
func (w *wire) noAnswer() error {
	var network net.Error
	switch {
	case errors.As(w.cause, &network) && network.Timeout():
		return fmt.Errorf("%w: it accepted the connection but did not answer within %v", driver.ErrTimeout, w.patience)
	case w.cause != nil && !errors.Is(w.cause, io.EOF):
		return fmt.Errorf("%w: %v", errNoSession, w.cause)
	}
	return errNoSession
}

// allow records the session timeout that the ensemble granted.
func (s *Session) allow(session time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session > 0 {
		s.granted = session
	}
}

func (s *Session) forget(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, conn)
}
