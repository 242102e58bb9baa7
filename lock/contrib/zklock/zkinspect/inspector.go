package zkinspect

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

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
)

// readSession is how long a session of this program lives without it.
const readSession = 10 * time.Second

// Inspector is an ensemble with a root of package zklock, of zk.Lock or of Curator.
type Inspector struct {
	conn    *zk.Conn // nil before connect
	root    string
	session time.Duration // to ask for
	servers []string
	reader  sessionReader
	auth    string
	ended   chan struct{}
}

// Errors of bad input, which never hold its text.
var (
	errBadServer = errors.New("is not of the form host:port (its text is withheld)")
	errBadRoot   = errors.New("--zookeeper-root is not a path: use one such as /locks")
	errBadAuth   = errors.New("LOCKSCOPE_ZOOKEEPER_AUTH is not of the form user:password")
)

// Config says which ensemble to read, and how.
type Config struct {
	Servers []string
	Root    string
	Auth    string // user:password; may be empty
}

// New connects to nothing.
func New(c Config) (*Inspector, error) {
	for i, server := range c.Servers {
		if host, port, err := net.SplitHostPort(server); err != nil || host == "" || port == "" ||
			strings.ContainsAny(server, "@/") {
			return nil, fmt.Errorf("ZooKeeper server %d %w", i+1, errBadServer)
		}
	}
	if root := c.Root; !strings.HasPrefix(root, "/") || root == "/" || path.Clean(root) != root {
		return nil, errBadRoot
	}
	if c.Auth != "" && !strings.Contains(c.Auth, ":") {
		return nil, errBadAuth
	}
	return &Inspector{root: c.Root, session: readSession, servers: c.Servers, auth: c.Auth,
		reader: sessionReader{first: firstAnswer(len(c.Servers))}}, nil
}

// System implements inspect.Inspector.
func (*Inspector) System() string { return "zookeeper" }

// Address implements inspect.Inspector.
func (b *Inspector) Address() string { return strings.Join(b.servers, ",") }

// granted is how long a session the ensemble grants where that one is asked for; 0 before connect.
func (b *Inspector) granted() time.Duration {
	b.reader.mu.Lock()
	defer b.reader.mu.Unlock()
	return b.reader.granted
}

// Close implements inspect.Inspector.
func (b *Inspector) Close() {
	if b.conn != nil {
		b.conn.Close() // waits a second for an answer
		b.reader.close()
		<-b.ended
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// connect makes the client, which connects again by itself, and waits for a session.
func (b *Inspector) connect(ctx context.Context) error {
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
	ctx, cancel := context.WithTimeout(ctx, inspect.DialTimeout)
	defer cancel()
	select {
	case <-session:
	case <-ctx.Done():
		return b.explain(errNoSession)
	}
	if b.auth != "" {
		_, err := store.InTime(ctx, func() (any, error) { return nil, conn.AddAuth("digest", []byte(b.auth)) })
		switch {
		case ctx.Err() != nil:
			return b.explain(errNoSession)
		case err != nil:
			return b.explain(fmt.Errorf("%w: %w", driver.ErrDenied, err))
		}
	}
	return nil
}

var errNoSession = driver.WithRemedy(fmt.Errorf("%w: no server granted a session", driver.ErrUnreachable),
	"check that the address is right, and that a majority of the ensemble runs")

func (b *Inspector) explain(err error) error {
	if errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrSessionExpired) {
		err = fmt.Errorf("%w: %w", driver.ErrUnreachable, err)
	}
	if errors.Is(err, zk.ErrNoAuth) {
		err = fmt.Errorf("%w: this user may not read the znodes",
			driver.ErrDenied) // what taking locks needs is not what reading does
	}
	return inspect.Explain(b, err,
		inspect.Remedies{driver.Denied: "set LOCKSCOPE_ZOOKEEPER_AUTH to the user:password of a user that " +
			"may read below --zookeeper-root"})
}

// Ping implements inspect.Inspector. The request ends with its answer or with Close.
func (b *Inspector) Ping(ctx context.Context) (time.Time, error) {
	if err := b.connect(ctx); err != nil {
		return time.Time{}, err
	}
	_, err := store.InTime(ctx, func() (string, error) { return b.conn.Sync("/") })
	return time.Time{}, b.explain(err)
}

// HeldLocks implements inspect.Inspector.
func (b *Inspector) HeldLocks(ctx context.Context) ([]inspect.HeldLock, error) {
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	all, err := zklock.ReadHeldLocks(ctx, b.conn, b.root)
	return all, b.explain(err)
}

// Waiting implements inspect.Inspector.
func (b *Inspector) Waiting(ctx context.Context) ([]inspect.Waiting, error) {
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	all, err := zklock.ReadWaiting(ctx, b.conn, b.root)
	return all, b.explain(err)
}

// Resource implements inspect.Inspector: keys are names below the root.
func (*Inspector) Resource(key string) string { return key }

// Locker makes an engine that takes locks there. The caller closes it before the Inspector. It has a session of its own.
func (b *Inspector) Locker(_ context.Context, opts ...lock.Option) (*engine.Engine, error) {
	opts = append(opts[:len(opts):len(opts)], zklock.WithRoot(b.root))
	if b.auth != "" {
		opts = append(opts, zklock.WithAuth("digest", []byte(b.auth)))
	}
	return zklock.New(b.servers, opts...)
}
