package zookeeper

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

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// readSession is how long a session of this program lives without it.
const readSession = 10 * time.Second

// Backend is an ensemble with a root of package zklock, of zk.Lock or of Curator.
type Backend struct {
	conn    *zk.Conn // nil before connect
	root    string
	session time.Duration // to ask for
	servers []string
	reader  sessionReader
	auth    string
	ended   chan struct{}
}

// New connects to nothing.
func New(c *backend.Config) (*Backend, error) {
	for i, server := range c.ZooKeeper {
		if host, port, err := net.SplitHostPort(server); err != nil || host == "" || port == "" ||
			strings.ContainsAny(server, "@/") {
			return nil, fmt.Errorf("ZooKeeper server %d %w", i+1, backend.ErrBadServer)
		}
	}
	if root := c.ZooKeeperRoot; !strings.HasPrefix(root, "/") || root == "/" || path.Clean(root) != root {
		return nil, backend.ErrBadRoot
	}
	if c.ZooKeeperAuth != "" && !strings.Contains(c.ZooKeeperAuth, ":") {
		return nil, backend.ErrBadAuth
	}
	return &Backend{root: c.ZooKeeperRoot, session: readSession, servers: c.ZooKeeper, auth: c.ZooKeeperAuth,
		reader: sessionReader{first: firstAnswer(len(c.ZooKeeper))}}, nil
}

// System implements inspect.Inspector.
func (*Backend) System() string { return "zookeeper" }

// Address implements inspect.Inspector.
func (b *Backend) Address() string { return strings.Join(b.servers, ",") }

// granted is how long a session the ensemble grants where that one is asked for; 0 before connect.
func (b *Backend) granted() time.Duration {
	b.reader.mu.Lock()
	defer b.reader.mu.Unlock()
	return b.reader.granted
}

// Close implements inspect.Inspector.
func (b *Backend) Close() {
	if b.conn != nil {
		b.conn.Close() // waits a second for an answer
		b.reader.close()
		<-b.ended
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// connect makes the client, which connects again by itself, and waits for a session.
func (b *Backend) connect(ctx context.Context) error {
	if b.conn != nil {
		return nil
	}
	session := make(chan struct{})
	var once sync.Once
	event := func(e zk.Event) {
		if e.Type == zk.EventSession && e.State == zk.StateHasSession {
			once.Do(func() { close(session) })
		}
	}
	conn, events, err := zk.Connect(b.servers, b.session, zk.WithDialer(b.reader.dial), zk.WithEventCallback(event),
		zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil { // a name that cannot be looked up
		return b.explain(fmt.Errorf("%w: %w", driver.ErrUnreachable, err))
	}
	b.conn, b.ended = conn, make(chan struct{})
	go func() {
		defer close(b.ended)
		for range events { // until the client has ended
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, backend.DialTimeout)
	defer cancel()
	select {
	case <-session:
	case <-ctx.Done():
		return b.explain(errNoSession)
	}
	if b.auth != "" {
		err := inTime(ctx, func() error { return conn.AddAuth("digest", []byte(b.auth)) })
		switch {
		case ctx.Err() != nil:
			return b.explain(errNoSession)
		case err != nil:
			return b.explain(fmt.Errorf("%w: %w", driver.ErrDenied, err))
		}
	}
	return nil
}

var errNoSession = fmt.Errorf("%w: no server granted a session: check that a majority of the ensemble runs",
	driver.ErrUnreachable)

func (b *Backend) explain(err error) error {
	if errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrSessionExpired) {
		err = fmt.Errorf("%w: %w", driver.ErrUnreachable, err)
	}
	if errors.Is(err, zk.ErrNoAuth) {
		err = fmt.Errorf("%w: this user may not read the znodes",
			driver.ErrDenied) // what taking locks needs is not what reading does
	}
	return backend.Explain(b, err,
		backend.Remedies{driver.Denied: "set LOCKSCOPE_ZOOKEEPER_AUTH to the user:password of a user that " +
			"may read below --zookeeper-root"})
}

// Ping implements inspect.Inspector. The request ends with its answer or with Close.
func (b *Backend) Ping(ctx context.Context) (time.Time, error) {
	if err := b.connect(ctx); err != nil {
		return time.Time{}, err
	}
	return time.Time{}, b.explain(inTime(ctx, func() error { _, err := b.conn.Sync("/"); return err }))
}

// HeldLocks implements inspect.Inspector.
func (b *Backend) HeldLocks(ctx context.Context) ([]inspect.HeldLock, error) {
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	all, err := zklock.ReadHeldLocks(ctx, b.conn, b.root)
	return all, b.explain(err)
}

// Waiting implements inspect.Inspector.
func (b *Backend) Waiting(ctx context.Context) ([]inspect.Waiting, error) {
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	all, err := zklock.ReadWaiting(ctx, b.conn, b.root)
	return all, b.explain(err)
}

// Resource implements inspect.Inspector: keys are names below the root.
func (*Backend) Resource(key string) string { return key }
