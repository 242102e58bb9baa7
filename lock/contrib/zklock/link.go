package zklock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// link is a session and its present connection. A new session replaces an expired one.
type link struct {
	conn    *zk.Conn
	auth    []auth
	authed  chan struct{} // closed when the ensemble knows who we are
	gone    chan struct{} // closed when the client has ended
	dial    zk.Dialer
	closing atomic.Bool
	reach   *reach

	mu      sync.Mutex
	has     bool          // there is a session, on a connection
	changed chan struct{} // closed when has changes
	session time.Duration // what the ensemble allows; 0 before it said so
	denied  error
	severed bool
	open    map[net.Conn]struct{}
}

// silent drops the client's log: the errors of calls have the causes.
type silent struct{}

func (silent) Printf(string, ...any) {}

func connect(servers []string, session, timeout time.Duration, s settings) (*link, error) {
	l := &link{
		auth: s.auth, authed: make(chan struct{}), gone: make(chan struct{}), changed: make(chan struct{}),
		open: make(map[net.Conn]struct{}), dial: s.dial, reach: newReach(zk.FormatServers(servers), timeout),
	}
	if l.dial == nil {
		l.dial = net.DialTimeout
	}
	conn, events, err := zk.Connect(servers, session, zk.WithDialer(l.connect), zk.WithEventCallback(l.event),
		zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	l.conn = conn
	go func() {
		defer close(l.gone)
		for range events { // until the client ends; the callback has them all
		}
	}()
	go l.authenticate()
	return l, nil
}

// authenticate sends the credentials before any other request. The client repeats it on later connections.
func (l *link) authenticate() {
	for _, a := range l.auth {
		for {
			err := l.conn.AddAuth(a.scheme, a.secret)
			if err == nil {
				break
			}
			if !isDisconnect(err) || l.isSevered() {
				l.deny(err)
				return
			}
			select {
			case <-time.After(retryEvery):
			case <-l.gone:
				return
			}
		}
	}
	close(l.authed)
}

func (l *link) deny(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.denied = fmt.Errorf("%w: %w: correct WithAuth", driver.ErrDenied, err)
	l.signal()
}

// event receives the session's events from the client. It must not block.
func (l *link) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	has := e.State == zk.StateHasSession
	if has != l.has {
		l.has = has
		l.reach.begin()
		l.signal()
	}
}

// failed records why a server granted no session.
func (l *link) failed(server string, err error) {
	l.reach.fail(server, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signal()
}

// signal expects the mutex to be held.
func (l *link) signal() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// await returns once a session is connected. It fails when ctx ends or the client is closed; nothing
// was sent then.
func (l *link) await(ctx context.Context) error {
	return l.awaitUnless(ctx, func() error { return nil })
}

// awaitReachable is like await, but also ends once no server is reachable.
func (l *link) awaitReachable(ctx context.Context) error { return l.awaitUnless(ctx, l.reach.hopeless) }

// awaitTried is like await, but also ends once every server was tried.
func (l *link) awaitTried(ctx context.Context) error { return l.awaitUnless(ctx, l.reach.tried) }

func (l *link) awaitUnless(ctx context.Context, hopeless func() error) error {
	for {
		l.mu.Lock()
		has, changed, denied := l.has, l.changed, l.denied
		l.mu.Unlock()
		if denied != nil {
			return fmt.Errorf("%w: %w", driver.ErrNotSent, denied)
		}
		authed := l.authed
		if has {
			select {
			case <-authed:
				return nil
			default:
			}
		} else {
			authed = nil
			if err := hopeless(); err != nil {
				return fmt.Errorf("%w: %w", driver.ErrNotSent, err)
			}
		}
		select {
		case <-changed:
		case <-authed:
		case <-l.gone:
			return fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrClosed)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", driver.ErrNotSent, l.reach.why())
		}
	}
}

// allowed is the session timeout that the ensemble granted; 0 if it is not known yet.
func (l *link) allowed() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

var errSevered = errors.New("zklock: closed")

// connect is the client's dialer.
func (l *link) connect(network, address string, timeout time.Duration) (net.Conn, error) {
	if l.isSevered() {
		return nil, errSevered
	}
	patience := l.reach.patience()
	conn, err := l.dial(network, address, min(timeout, patience))
	if err != nil {
		l.failed(address, err)
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.severed {
		return nil, errors.Join(errSevered, conn.Close())
	}
	l.open[conn] = struct{}{}
	return &wire{Conn: conn, in: bufio.NewReader(conn), link: l, server: address, patience: patience}, nil
}

func (l *link) isSevered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.severed
}

// How long close waits for a server to end the session, and then for the client to end.
const (
	endWithin  = 250 * time.Millisecond
	leaveAfter = 10 * time.Second
)

// close ends the session. With keepSession it ends only the connection, and the session lives until it
// expires. close returns when the client has ended.
func (l *link) close(keepSession bool) error {
	l.closing.Store(true)
	if keepSession {
		l.sever()
	}
	l.conn.Close()
	select {
	case <-l.gone:
		return nil
	case <-time.After(endWithin):
	}
	l.sever() // a server that hangs would be waited for
	select {
	case <-l.gone:
		return nil
	case <-time.After(leaveAfter):
		return fmt.Errorf("zklock: close: the client did not end within %v and was abandoned", leaveAfter)
	}
}

func (l *link) sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.severed = true
	for conn := range l.open {
		_ = conn.Close()
	}
}
