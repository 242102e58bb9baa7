package redlock

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/lockscope/lockscope/lock/engine"
)

// askMasterAfter is how long the sentinels' word on who is master is believed, and
// maxPatience how long a command waits for it at most.
const (
	askMasterAfter = time.Second
	maxPatience    = 100 * time.Millisecond
)

// masterWatch keeps a Sentinel client's connections on the current master. When the
// sentinels switch masters, go-redis drops the pooled connections of the caller's
// client only; ours would stay with the demoted master as long as it answers, and
// take locks there that the new one knows nothing of.
type masterWatch struct {
	dial     dialer // asks the sentinels, and connects to the master they name
	clock    engine.Clock
	patience time.Duration // how much of a command's time may go to asking

	mu      sync.Mutex
	master  string // remote address of the last connection made
	checked time.Duration
	doubted bool
	conns   map[*masterConn]struct{}
}

func newMasterWatch(dial dialer, clock engine.Clock, nodeTimeout time.Duration) *masterWatch {
	return &masterWatch{
		dial: dial, clock: clock, patience: min(nodeTimeout/4, maxPatience), doubted: true, conns: make(map[*masterConn]struct{}),
	}
}

// connect is the dialer given to go-redis.
func (w *masterWatch) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := w.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	own := &masterConn{Conn: conn, watch: w}
	w.mu.Lock()
	w.conns[own] = struct{}{}
	w.mu.Unlock()
	w.found(conn.RemoteAddr().String())
	if _, ok := conn.(syscall.Conn); ok {
		return pollableConn{own}, nil
	}
	return own, nil
}

// check connects to the master, if that is due, only to see who it is. Where that
// fails, the connections there are go on: sentinels that are down or hang must not
// take the locks with them.
func (w *masterWatch) check(ctx context.Context) {
	w.mu.Lock()
	now := w.clock()
	due := w.doubted || now-w.checked >= askMasterAfter
	if due {
		w.checked, w.doubted = now, false // one call asks, the others go on
	}
	due = due && len(w.conns) > 0 // the next connection will ask by itself
	w.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	conn, err := w.dial(ctx, "tcp", redisconn.SentinelAddress)
	if err != nil {
		return
	}
	w.found(conn.RemoteAddr().String())
	_ = conn.Close()
}

// doubt makes the next command ask the sentinels first.
func (w *masterWatch) doubt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doubted = true
}

// found closes the connections that lead elsewhere. What is under way on them fails,
// as it does when a server dies.
func (w *masterWatch) found(master string) {
	w.mu.Lock()
	var elsewhere []*masterConn
	if w.master != master {
		w.master = master
		for c := range w.conns {
			if c.RemoteAddr().String() != master {
				elsewhere = append(elsewhere, c)
			}
		}
	}
	w.mu.Unlock()
	for _, c := range elsewhere {
		_ = c.Close()
	}
}

// masterConn is forgotten when it is closed.
type masterConn struct {
	net.Conn
	watch *masterWatch
}

func (c *masterConn) Close() error {
	c.watch.mu.Lock()
	delete(c.watch.conns, c)
	c.watch.mu.Unlock()
	return c.Conn.Close()
}

// pollableConn lets go-redis find out whether an idle connection is still good.
type pollableConn struct{ *masterConn }

func (c pollableConn) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
}
