package servers

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

const (
	// slowHandshake is after what time a server is asked in plain text whether it speaks TLS
	// at all: Redis waits for the end of a line, and says nothing to the first record of TLS.
	slowHandshake = 300 * time.Millisecond
	// askTimeout bounds that question, and its like on a port that hung up.
	askTimeout = time.Second
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dialer connects as go-redis does, and finds out why where nothing can be said on a connection: ErrPlainPort and
// ErrTLSPort of package ui take the place of an EOF, or of a timeout, in as short a time as it takes the server
// to show what it speaks.
func dialer(timeout time.Duration, config *tls.Config) dialFunc {
	dial := redis.NewDialer(&redis.Options{DialTimeout: timeout})
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		switch {
		case err != nil || network == "unix":
			return conn, err
		case config == nil:
			return hungUpOn(conn, address), nil
		}
		return handshake(ctx, conn, timeout, named(config, address))
	}
}

// named is a configuration with the name that the server's certificate is to have.
func named(config *tls.Config, address string) *tls.Config {
	if config.ServerName != "" || config.InsecureSkipVerify {
		return config
	}
	config = config.Clone()
	config.ServerName = address
	if host, _, err := net.SplitHostPort(address); err == nil {
		config.ServerName = host
	}
	return config
}

// handshake makes a connection one of TLS.
func handshake(ctx context.Context, conn net.Conn, timeout time.Duration, config *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	secured := tls.Client(conn, config)
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		err = secured.HandshakeContext(ctx)
	}()
	plain := false
	select {
	case <-done:
	case <-time.After(slowHandshake):
		if plain = speaksPlain(ctx, conn.RemoteAddr().String()); plain {
			cancel()
		}
		<-done
	}
	if plain {
		err = ui.ErrPlainPort
	}
	if err == nil {
		return secured, nil
	}
	_ = conn.Close()
	if broken, ok := errors.AsType[tls.RecordHeaderError](err); ok && isReply(broken.RecordHeader[0]) {
		return nil, ui.ErrPlainPort
	}
	return nil, err
}

// isReply reports that a server's first byte begins a reply of Redis, PONG or an error.
func isReply(first byte) bool { return first == '+' || first == '-' }

// speaksPlain asks in plain text.
func speaksPlain(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	if _, err = io.WriteString(conn, "PING\r\n"); err != nil {
		return false
	}
	first, err := bufio.NewReader(conn).ReadByte()
	return err == nil && isReply(first)
}

// speaksTLS shakes hands, whatever the certificates are: nothing is sent on it.
func speaksTLS(address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	met := false
	config := &tls.Config{
		InsecureSkipVerify: true, // it is only asked what it speaks
		VerifyConnection:   func(tls.ConnectionState) error { met = true; return nil },
	}
	_ = tls.Client(conn, config).HandshakeContext(ctx)
	return met
}

// plainConn is a connection in plain text, whose server may hang up at once because it
// speaks TLS.
type plainConn struct {
	net.Conn
	address string
	heard   bool // read by one goroutine at a time, as go-redis does
}

func hungUpOn(conn net.Conn, address string) net.Conn {
	plain := &plainConn{Conn: conn, address: address}
	if raw, ok := conn.(syscall.Conn); ok {
		return &rawPlainConn{plain, raw}
	}
	return plain
}

// Read implements net.Conn.
func (c *plainConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.heard {
		return n, err
	}
	c.heard = n > 0
	hungUp := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
	const alert = 0x15 // the kind of a record of TLS
	if n > 0 && b[0] == alert || hungUp && speaksTLS(c.address) {
		return 0, ui.ErrTLSPort
	}
	return n, err
}

// rawPlainConn lets go-redis see whether the other side has closed it.
type rawPlainConn struct {
	*plainConn
	raw syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (c *rawPlainConn) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }
