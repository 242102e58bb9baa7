// Package dial makes a node's connections. Each dial ends with its context, whatever the given client's dialer
// does. Behind Sentinel, all connections lead to the master.
package dial

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// Func makes a connection, as a go-redis Dialer does.
type Func = func(ctx context.Context, network, addr string) (net.Conn, error)

// Timeout returns how long a dial may take, given the timeout of a node's calls. No call waits that long: a
// slow connection, with a TLS handshake perhaps, serves the next call.
func Timeout(node time.Duration) time.Duration { return 4 * node }

// maxLateTime bounds how long Close waits for a dial that outlived its context.
const maxLateTime = 10 * time.Second

// maxLateDials is how many dials of a node may outlive their contexts. A dialer that ignores its context would
// otherwise leave a goroutine behind with every call.
const maxLateDials = 8

// Dials makes one node's dials. Each ends for its caller with its context, whatever the dialer does. go-redis
// dials TLS without a context, and the caller's own dialer may ignore it. Either would occupy a pool slot until
// it ends.
type Dials struct {
	dial Func
	wait time.Duration // how long Close waits for late ones

	mu       sync.Mutex
	closed   bool
	underWay int
	late     int
	over     chan struct{} // closed when none is under way after Close
}

// New returns Dials with the given client's dialer and dial timeout; 0 is no timeout. Close waits for late dials
// as long as a TLS dial of the client may take.
func New(dial Func, timeout time.Duration) *Dials {
	wait := maxLateTime
	if timeout > 0 {
		wait = min(timeout, maxLateTime)
	}
	return &Dials{dial: dial, wait: wait, over: make(chan struct{})}
}

// Connect is the dialer given to go-redis.
func (d *Dials) Connect(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := d.begin(); err != nil {
		return nil, err
	}
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	taken := make(chan bool, 1) // whether anybody still waits for the result
	go func() {
		defer d.end()
		conn, err := d.dial(ctx, network, addr)
		done <- result{conn, err}
		if !<-taken && err == nil {
			_ = conn.Close()
		}
	}()
	select {
	case r := <-done:
		taken <- true
		return r.conn, r.err
	case <-ctx.Done():
		d.giveUp()
		taken <- false
		return nil, ctx.Err()
	}
}

func (d *Dials) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return driver.ErrClosed
	case d.late >= maxLateDials:
		return fmt.Errorf("%w: %d dials did not end with their contexts: correct the client's Dialer",
			driver.ErrNotSent, d.late)
	}
	d.underWay++
	return nil
}

// giveUp counts one more dial as late. It does not matter which one it is.
func (d *Dials) giveUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.late++
}

func (d *Dials) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.underWay--
	d.late = min(d.late, d.underWay)
	if d.closed && d.underWay == 0 {
		close(d.over)
	}
}

// Close refuses new dials and waits for those under way, for a bounded time: the caller's dialer may
// never return.
func (d *Dials) Close() error {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		if d.underWay == 0 {
			close(d.over)
		}
	}
	left := d.underWay
	d.mu.Unlock()
	timer := time.NewTimer(d.wait)
	defer timer.Stop()
	select {
	case <-d.over:
		return nil
	case <-timer.C:
		return fmt.Errorf("%d dials did not end within %v of Close: make the client's Dialer heed its context", left,
			d.wait)
	}
}
