package netfault

import (
	"context"
	"net"
	"sync"
	"time"
)

// link is one connection through the proxy: two streams, each with a goroutine that reads into a queue and one that
// delivers from it. Reading never waits for delivery; that is how a client's end is seen, and its last words are kept,
// while they are held.
type link struct {
	client   net.Conn
	faults   *faults
	up, down *queue // to the server, to the client

	held  gate     // of this connection alone: see Proxy.HoldOne
	taped recorder // see Proxy.Record

	ctx  context.Context
	cut  context.CancelFunc
	done chan struct{} // closed by the proxy when run has returned
}

func newLink(ctx context.Context, client net.Conn, f *faults) *link {
	l := &link{client: client, faults: f, up: newQueue(), down: newQueue(), held: openGate(), done: make(chan struct{})}
	l.ctx, l.cut = context.WithCancel(ctx)
	return l
}

// run returns when both connections are closed and all goroutines have ended.
func (l *link) run(target string) {
	defer l.cut()
	var d net.Dialer
	server, err := d.DialContext(l.ctx, "tcp", target)
	if err != nil {
		reset(l.client)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { l.read(l.client, l.up, toServer) })
	wg.Go(func() { l.read(server, l.down, toClient) })
	wg.Go(func() {
		l.deliver(l.up, server, toServer)
		closeWrite(server) // the client is gone; the server answers by closing, which ends the other direction
	})
	wg.Go(func() {
		l.deliver(l.down, l.client, toClient)
		l.cut() // the server is gone, and with it the point of anything still to come
	})
	<-l.ctx.Done()
	l.client.Close()
	server.Close()
	wg.Wait()
}

// read fills the queue until src ends, in whatever way.
func (l *link) read(src net.Conn, q *queue, d direction) {
	defer q.end()
	buf := make([]byte, 16<<10)
	for {
		n, err := src.Read(buf)
		if d == toServer && n > 0 {
			l.taped.heard(buf[:n], l.faults.tape())
		}
		if delay, drop := l.faults.onArrival(d); n > 0 && !drop {
			q.push(buf[:n], time.Now().Add(delay))
		}
		if err != nil {
			return
		}
	}
}

// deliver empties the queue until it has ended or the link is cut. A write that fails is no reason to stop: if the
// client is gone its commands still count, and if the server is gone, reading from it says so.
func (l *link) deliver(q *queue, dst net.Conn, d direction) {
	for {
		c, ok := q.next(l.ctx)
		if !ok || !l.mayLeave(c, d) {
			return
		}
		dst.Write(c.data)
		q.left(c)
	}
}

// mayLeave waits until the chunk is due and not held, and returns false if the link is cut before.
func (l *link) mayLeave(c chunk, d direction) bool {
	due := time.NewTimer(time.Until(c.due))
	defer due.Stop()
	select {
	case <-due.C:
	case <-l.ctx.Done():
		return false
	}
	if d == toClient {
		return true
	}
	for _, open := range []<-chan struct{}{l.faults.gate(), l.held.opened()} {
		select {
		case <-open:
		case <-l.ctx.Done():
			return false
		}
	}
	return true
}

// closeWrite closes the sending side of the connection. It still receives.
func closeWrite(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.CloseWrite()
	}
}

// reset closes in the way that the other end sees as an error rather than as an orderly end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}
