package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// Session is a session and its present connection. A new session replaces an expired one.
type Session struct {
	client *Client
	auth   []Auth
	authed chan struct{} // closed when the ensemble knows who we are
	gone   chan struct{} // closed when the client has ended
	dial   zk.Dialer
	reach  *reach

	mu      sync.Mutex
	has     bool          // there is a session, on a connection
	changed chan struct{} // closed when has changes
	granted time.Duration // what the ensemble allows; 0 before it said so
	denied  error
	severed bool
	open    map[net.Conn]struct{}
}

// Options say how an ensemble is connected to.
type Options struct {
	Auth []Auth
	Dial zk.Dialer // nil: net.DialTimeout
}

// Auth is what authenticates this process.
type Auth struct {
	Scheme string
	Secret []byte
}

// silent drops the client's log: the errors of calls have the causes.
type silent struct{}

func (silent) Printf(string, ...any) {}

func connect(servers []string, session, timeout time.Duration, o Options) (*Session, error) {
	s := &Session{
		client: &Client{}, auth: o.Auth, authed: make(chan struct{}), gone: make(chan struct{}), changed: make(chan struct{}),
		open: make(map[net.Conn]struct{}), dial: o.Dial, reach: newReach(zk.FormatServers(servers), timeout),
	}
	if s.dial == nil {
		s.dial = net.DialTimeout
	}
	conn, events, err := zk.Connect(servers, session, zk.WithDialer(s.connect), zk.WithEventCallback(s.event),
		zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	s.client.conn = conn
	go func() {
		defer close(s.gone)
		for range events { // until the client ends; the callback has them all
		}
	}()
	go s.authenticate()
	return s, nil
}

// authenticate sends the credentials before any other request. The client repeats it on later connections.
func (s *Session) authenticate() {
	for _, a := range s.auth {
		for {
			err := s.client.conn.AddAuth(a.Scheme, a.Secret)
			if err == nil {
				break
			}
			if !IsDisconnect(err) || s.isSevered() {
				s.deny(err)
				return
			}
			select {
			case <-time.After(RetryEvery):
			case <-s.gone:
				return
			}
		}
	}
	close(s.authed)
}

func (s *Session) deny(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = fmt.Errorf("%w: %w: correct WithAuth", driver.ErrDenied, err)
	s.signal()
}

// event receives the session's events from the client. It must not block.
func (s *Session) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	has := e.State == zk.StateHasSession
	if has != s.has {
		s.has = has
		s.reach.begin()
		s.signal()
	}
}

// failed records why a server granted no session.
func (s *Session) failed(server string, err error) {
	s.reach.fail(server, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signal()
}

// signal expects the mutex to be held.
func (s *Session) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Await returns once a session is connected. It fails when ctx ends or the client is closed; nothing
// was sent then.
func (s *Session) Await(ctx context.Context) error {
	return s.awaitUnless(ctx, func() error { return nil })
}

// AwaitReachable is like Await, but also ends once no server is reachable.
func (s *Session) AwaitReachable(ctx context.Context) error {
	return s.awaitUnless(ctx, s.reach.hopeless)
}

// AwaitTried is like Await, but also ends once every server was tried.
func (s *Session) AwaitTried(ctx context.Context) error { return s.awaitUnless(ctx, s.reach.tried) }

func (s *Session) awaitUnless(ctx context.Context, hopeless func() error) error {
	for {
		s.mu.Lock()
		has, changed, denied := s.has, s.changed, s.denied
		s.mu.Unlock()
		if denied != nil {
			return fmt.Errorf("%w: %w", driver.ErrNotSent, denied)
		}
		authed := s.authed
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
		case <-s.gone:
			return fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrClosed)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", driver.ErrNotSent, s.reach.why())
		}
	}
}

// Allowed is the session timeout that the ensemble granted; 0 if it is not known yet.
func (s *Session) Allowed() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

var errSevered = errors.New("zklock: closed")

// connect is the client's dialer.
func (s *Session) connect(network, address string, timeout time.Duration) (net.Conn, error) {
	if s.isSevered() {
		return nil, errSevered
	}
	patience := s.reach.patience()
	conn, err := s.dial(network, address, min(timeout, patience))
	if err != nil {
		s.failed(address, err)
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.severed {
		return nil, errors.Join(errSevered, conn.Close())
	}
	s.open[conn] = struct{}{}
	return &wire{Conn: conn, in: bufio.NewReader(conn), session: s, server: address, patience: patience}, nil
}

func (s *Session) isSevered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.severed
}

// How long Close waits for a server to end the session, and then for the client to end.
const (
	endWithin  = 250 * time.Millisecond
	leaveAfter = 10 * time.Second
)

// Close ends the session. With keepSession it ends only the connection, and the session lives until it
// expires. Close returns when the client has ended.
func (s *Session) Close(keepSession bool) error {
	s.client.closing.Store(true)
	if keepSession {
		s.sever()
	}
	s.client.conn.Close()
	select {
	case <-s.gone:
		return nil
	case <-time.After(endWithin):
	}
	s.sever() // a server that hangs would be waited for
	select {
	case <-s.gone:
		return nil
	case <-time.After(leaveAfter):
		return fmt.Errorf("zklock: close: the client did not end within %v and was abandoned", leaveAfter)
	}
}

func (s *Session) sever() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.severed = true
	for conn := range s.open {
		_ = conn.Close()
	}
}

// LongestTTL is the documented function of package zklock.
func LongestTTL(session time.Duration) time.Duration {
	tick := session / 2
	return session - session/3 - tick/2
}

// CheckTTL refuses TTLs that the ensemble's sessions are too short for, once their timeout is known.
func (s *Session) CheckTTL(ttl time.Duration) error {
	allowed := s.Allowed()
	longest := LongestTTL(allowed)
	if allowed > 0 && ttl > longest {
		return fmt.Errorf("%w: it grants sessions of %v: use a TTL of at most %v, or raise maxSessionTimeout",
			driver.ErrMisconfigured, allowed, longest.Truncate(time.Millisecond))
	}
	return nil
}
