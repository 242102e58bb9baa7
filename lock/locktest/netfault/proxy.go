package netfault

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// acceptPause keeps a passing failure to accept (out of file descriptors) from becoming a busy loop.
const acceptPause = 5 * time.Millisecond

// Proxy forwards connections to one server. All methods may be called concurrently.
type Proxy struct {
	listener net.Listener
	faults   *faults

	ctx    context.Context // of all connections
	cancel context.CancelFunc
	wg     sync.WaitGroup // every goroutine of the proxy

	mu     sync.Mutex
	target string
	links  map[*link]struct{}
}

// Listen starts a proxy for target ("host:port") on a free port of the loopback interface. Without faults it forwards
// everything. The target is dialled for each connection; when that fails, the connection is closed.
func Listen(target string) (*Proxy, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("netfault: %w", err)
	}
	p := &Proxy{target: target, listener: ln, faults: newFaults(), links: map[*link]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(p.accept)
	return p, nil
}

func (p *Proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
		case p.faults.refusing() || p.isFull():
			reset(conn)
		default:
			p.serve(conn)
		}
	}
}

func (p *Proxy) isFull() bool {
	most := p.faults.limit()
	p.mu.Lock()
	defer p.mu.Unlock()
	return most > 0 && len(p.links) >= most
}

func (p *Proxy) serve(conn net.Conn) {
	l := newLink(p.ctx, conn, p.faults)
	p.mu.Lock()
	p.links[l] = struct{}{}
	target := p.target
	p.mu.Unlock()
	p.wg.Go(func() {
		l.run(target)
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
		close(l.done)
	})
}

// Addr returns the address that clients dial instead of the target's.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// SetTarget leads new connections to another server, as a name or a balancer does after a failover. Those that are open
// stay with theirs.
func (p *Proxy) SetTarget(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Close cuts all connections and stops listening. It returns when all goroutines of the proxy have ended. Closing again
// is fine.
func (p *Proxy) Close() error {
	p.cancel()
	err := p.listener.Close()
	p.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// SetDelay makes bytes take at least d in each direction, so that a round trip takes 2d longer. Their order is kept.
func (p *Proxy) SetDelay(d time.Duration) { p.faults.set(func(f *faults) { f.delay = d }) }

// Drop swallows, or no longer swallows, bytes in both directions: connections stay open and silent, as behind a
// firewall that discards packets. After it, a connection that had bytes dropped has a hole in its stream; clients that
// do not throw such a connection away need a CutAll.
func (p *Proxy) Drop(on bool) {
	p.faults.set(func(f *faults) { f.dropToServer, f.dropToClient = on, on })
}

// DropToServer is Drop for what clients say: the server never sees the command.
func (p *Proxy) DropToServer(on bool) { p.faults.set(func(f *faults) { f.dropToServer = on }) }

// DropToClient is Drop for what the server says: it executes the command and the client never learns of it.
func (p *Proxy) DropToClient(on bool) { p.faults.set(func(f *faults) { f.dropToClient = on }) }

// Refuse makes new connections fail at once, or work again. Existing ones are not affected.
func (p *Proxy) Refuse(on bool) { p.faults.set(func(f *faults) { f.refuse = on }) }

// Limit refuses connections while there are n already, as a server with too many clients does; 0 is no limit. A
// connection whose client is gone counts as long as something is held on it. Many proxies in one process share its file
// descriptors: each connection takes two.
func (p *Proxy) Limit(n int) { p.faults.set(func(f *faults) { f.most = n }) }

// Hold keeps what clients say in the proxy until Flow. Servers are still heard. Memory is the only limit to what is
// kept.
func (p *Proxy) Hold() { p.faults.flow.shut() }

// HoldOne is Hold for one connection alone, the one whose client spoke last: what is said on others overtakes it. It
// reports whether there was a connection to hold.
func (p *Proxy) HoldOne() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var last *link
	for l := range p.links {
		if spoke := l.taped.spoke.Load(); spoke > 0 && (last == nil || spoke > last.taped.spoke.Load()) {
			last = l
		}
	}
	if last != nil {
		last.held.shut()
	}
	return last != nil
}

// Flow delivers, in order, what has been held, also for clients that are gone by now, and lets bytes pass again. It
// does not wait for the delivery; that is done when Held is 0.
func (p *Proxy) Flow() {
	p.faults.flow.release()
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.held.release()
	}
}

// Held returns how many bytes from clients the proxy has taken and not yet forwarded, be it for Hold or for a delay.
func (p *Proxy) Held() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for l := range p.links {
		n += l.up.size()
	}
	return n
}

// CutAll closes the existing connections on both sides and returns when they are closed. What was held or delayed on
// them is lost. New connections are not affected; one that was dialled a moment ago and has not been used may count as
// new.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	p.mu.Unlock()
	for _, l := range links {
		l.cut()
	}
	for _, l := range links {
		<-l.done
	}
}
