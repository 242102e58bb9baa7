package redisproc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

const (
	pollEvery = 5 * time.Millisecond
	// pingTimeout is enough for a server to which many clients come back at once. Then it is asked anew: a stranger on the
	// port may never answer.
	pingTimeout = 2 * time.Second

	// readyTimeout bounds every wait for a server, for callers whose context has no deadline.
	readyTimeout = 30 * time.Second
)

var (
	errNotReady  = errors.New("not ready after 30s")
	errPortTaken = errors.New("port already in use")
)

// awaitReady returns when p itself answers PING on the address. On any error p is still to be killed by the caller.
func awaitReady(ctx context.Context, p *process.Process, addr string) error {
	err := poll(ctx, p.Done(), func(ctx context.Context) error { return ping(ctx, addr, p.PID()) })
	if err == nil {
		return nil
	}
	if ended := p.Err(); ended != nil {
		err = ended
	} else {
		err = fmt.Errorf("%w; its log ends with:\n%s", err, p.Tail())
	}
	if strings.Contains(p.Tail(), "Address already in use") {
		err = fmt.Errorf("%w: %w", errPortTaken, err)
	}
	return err
}

// poll calls check until it returns nil. It gives up when ctx ends, when quit is closed or after readyTimeout. Its
// error has the reason and check's last error.
func poll(ctx context.Context, quit <-chan struct{}, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, errNotReady)
	defer cancel()
	for {
		last := check(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-quit:
			return last
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		case <-time.After(pollEvery):
		}
	}
}

// ping returns nil if the process with that pid answers on the address and has loaded its data. It speaks RESP by hand,
// as a client would bring a pool, retries and goroutines.
func ping(ctx context.Context, addr string, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	if _, err := io.WriteString(conn, "INFO server\r\nPING\r\n"); err != nil {
		return err
	}
	replies := bufio.NewReader(conn)
	info, err := readReply(replies)
	if err != nil {
		return err
	}
	pong, err := readReply(replies)
	switch {
	case err != nil:
		return err
	case bytes.HasPrefix(pong, []byte("-NOAUTH")): // up, and started with a password
		return nil
	case !bytes.Contains(info, []byte("\nprocess_id:"+strconv.Itoa(pid)+"\r\n")):
		return fmt.Errorf("another process answers on %s", addr)
	case !bytes.Equal(pong, []byte("+PONG")):
		return fmt.Errorf("PING answered %q", pong)
	}
	return nil
}

// readReply returns a bulk string's content, or any other one-line reply with its type byte.
func readReply(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	line = bytes.TrimRight(line, "\r\n")
	size, isBulk := bytes.CutPrefix(line, []byte("$"))
	if !isBulk {
		return line, nil
	}
	n, err := strconv.Atoi(string(size))
	if err != nil || n < 0 {
		return nil, fmt.Errorf("malformed reply %q", line)
	}
	body := make([]byte, n+len("\r\n"))
	_, err = io.ReadFull(r, body)
	return body[:n], err
}
