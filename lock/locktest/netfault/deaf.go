package netfault

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// DeafPort is a port on which connections are accepted and nothing is ever answered, as by a server that hangs.
type DeafPort struct {
	listener net.Listener
	wg       sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  []net.Conn
}

// Deaf listens on a free port of the loopback interface. Close must follow.
func Deaf() (*DeafPort, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("netfault: %w", err)
	}
	d := &DeafPort{listener: ln}
	d.wg.Go(d.accept)
	return d, nil
}

func (d *DeafPort) accept() {
	for {
		conn, err := d.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
		default:
			d.keep(conn)
		}
	}
}

func (d *DeafPort) keep(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		_ = conn.Close()
		return
	}
	d.conns = append(d.conns, conn)
}

// Addr returns the address that clients dial.
func (d *DeafPort) Addr() string { return d.listener.Addr().String() }

// Close cuts all connections and stops listening.
func (d *DeafPort) Close() error {
	err := d.listener.Close()
	d.mu.Lock()
	d.closed = true
	for _, conn := range d.conns {
		_ = conn.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
	return err
}
