package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/zklock"
	"github.com/lockscope/lockscope/scanner"
)

// readSession is how long a session of this program lives without it.
const readSession = 10 * time.Second

// ZooKeeper is an ensemble with a root of package zklock, of zk.Lock or of Curator.
type ZooKeeper struct {
	Conn    *zk.Conn // nil before Connect
	Root    string
	Session time.Duration // to ask for
	servers []string
	reader  sessionReader
	auth    string
	ended   chan struct{}
}

func newZooKeeper(c *Config) (*ZooKeeper, error) {
	for i, server := range c.ZooKeeper {
		if host, port, err := net.SplitHostPort(server); err != nil || host == "" || port == "" || strings.ContainsAny(server, "@/") {
			return nil, fmt.Errorf("ZooKeeper server %d %w", i+1, ErrBadServer)
		}
	}
	if root := c.ZooKeeperRoot; !strings.HasPrefix(root, "/") || root == "/" || path.Clean(root) != root {
		return nil, ErrBadRoot
	}
	if c.ZooKeeperAuth != "" && !strings.Contains(c.ZooKeeperAuth, ":") {
		return nil, ErrBadAuth
	}
	return &ZooKeeper{Root: c.ZooKeeperRoot, Session: readSession, servers: c.ZooKeeper, auth: c.ZooKeeperAuth}, nil
}

// System implements Backend.
func (*ZooKeeper) System() string { return "zookeeper" }

// Address implements Backend.
func (b *ZooKeeper) Address() string { return strings.Join(b.servers, ",") }

// Servers are the members that were named.
func (b *ZooKeeper) Servers() []string { return b.servers }

// Granted is how long a session the ensemble grants where Session is asked for; 0 before Connect.
func (b *ZooKeeper) Granted() time.Duration {
	b.reader.mu.Lock()
	defer b.reader.mu.Unlock()
	return b.reader.granted
}

// TellsTTL implements Backend: places end with sessions of others.
func (*ZooKeeper) TellsTTL() bool { return false }

// Close implements Backend.
func (b *ZooKeeper) Close() {
	if b.Conn != nil {
		b.Conn.Close()
		<-b.ended
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// Connect implements Backend: it waits for a session.
func (b *ZooKeeper) Connect(ctx context.Context) error {
	session := make(chan struct{})
	var once sync.Once
	event := func(e zk.Event) {
		if e.Type == zk.EventSession && e.State == zk.StateHasSession {
			once.Do(func() { close(session) })
		}
	}
	conn, events, err := zk.Connect(b.servers, b.Session, zk.WithDialer(b.reader.dial), zk.WithEventCallback(event), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil { // a name that cannot be looked up
		return b.explain(fmt.Errorf("%w: %w", driver.ErrUnreachable, err))
	}
	b.Conn, b.ended = conn, make(chan struct{})
	go func() {
		defer close(b.ended)
		for range events { // until the client has ended
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	select {
	case <-session:
	case <-ctx.Done():
		return b.explain(errNoSession)
	}
	if b.auth != "" {
		if err := conn.AddAuth("digest", []byte(b.auth)); err != nil {
			return b.explain(fmt.Errorf("%w: %w", driver.ErrDenied, err))
		}
	}
	return nil
}

var errNoSession = fmt.Errorf("%w: no server has taken up a session: a majority of the ensemble has to run", driver.ErrUnreachable)

func (b *ZooKeeper) explain(err error) error {
	if errors.Is(err, zk.ErrNoAuth) {
		err = fmt.Errorf("%w: the nodes let only others read", driver.ErrDenied) // what taking locks needs is not what reading does
	}
	return explain(b, err, remedies{driver.Denied: "give LOCKSCOPE_ZOOKEEPER_AUTH=user:password of who may read below --zookeeper-root"})
}

// Held implements Backend.
func (b *ZooKeeper) Held(ctx context.Context) ([]scanner.Lock, error) {
	if b.Conn == nil {
		return nil, ErrNotConnected
	}
	all, err := zklock.ReadHeld(ctx, b.Conn, b.Root)
	locks := make([]scanner.Lock, 0, len(all))
	for _, h := range all {
		locks = append(locks, held(h.Key, h.Key, "znode", h.Fence, h.Holder, 0))
	}
	return locks, b.explain(err)
}

// Waiting implements Backend. What a waiter holds meanwhile ZooKeeper does not tell.
func (b *ZooKeeper) Waiting(ctx context.Context) ([]Waiter, error) {
	if b.Conn == nil {
		return nil, ErrNotConnected
	}
	all, err := zklock.ReadWaiting(ctx, b.Conn, b.Root)
	waiters := make([]Waiter, 0, len(all))
	for _, w := range all {
		waiters = append(waiters, Waiter{Key: w.Key, Resource: w.Key, Since: w.Since, Says: says(w.Holder)})
	}
	return waiters, b.explain(err)
}
