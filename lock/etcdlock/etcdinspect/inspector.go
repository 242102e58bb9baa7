package etcdinspect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
)

// Inspector is a cluster with a prefix of package etcdlock, or of plain Mutexes.
type Inspector struct {
	client   *clientv3.Client // nil before connect
	prefix   string
	fenceKey string
	config   clientv3.Config
}

// Errors of bad input, which never hold its text.
var (
	errBadEndpoint = errors.New("is not of the form host:port, http://host:port or https://host:port (its text is " +
		"withheld: it may hold a password). Name the user with --etcd-username")
	errPlainText = errors.New("a --tls flag is set, but an etcd endpoint would use plain text: begin it with https://")
)

// Config says which cluster to read, and how.
type Config struct {
	Endpoints          []string
	Username, Password string
	TLS                *tls.Config // for https:// endpoints; nil: the default
	Prefix             string      // of lock keys
	FenceKey           string
}

// New connects to nothing.
func New(c Config) (*Inspector, error) {
	for i, endpoint := range c.Endpoints {
		secure, err := checkEndpoint(endpoint)
		if err != nil {
			return nil, fmt.Errorf("etcd endpoint %d %w", i+1, err)
		}
		if !secure && c.TLS != nil {
			return nil, errPlainText
		}
	}
	return &Inspector{prefix: c.Prefix, fenceKey: c.FenceKey, config: clientv3.Config{
		Endpoints: c.Endpoints, Username: c.Username, Password: c.Password, TLS: c.TLS,
		DialTimeout: inspect.DialTimeout,
		Logger:      zap.NewNop(),
	}}, nil
}

func checkEndpoint(endpoint string) (secure bool, err error) {
	text := endpoint
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" {
		return false, errBadEndpoint
	}
	if host, port, err := net.SplitHostPort(u.Host); err != nil || host == "" || port == "" {
		return false, errBadEndpoint
	}
	return u.Scheme == "https", nil
}

var errNoMajority = fmt.Errorf("%w: no member answered for a majority", driver.ErrUnreachable)

// System implements inspect.Inspector.
func (*Inspector) System() string { return "etcd" }

// Address implements inspect.Inspector.
func (b *Inspector) Address() string {
	var hosts []string
	for _, e := range b.config.Endpoints {
		_, host, found := strings.Cut(e, "://")
		if !found {
			host = e
		}
		hosts = append(hosts, host)
	}
	return strings.Join(hosts, ",")
}

// Close implements inspect.Inspector.
func (b *Inspector) Close() {
	if b.client != nil {
		_ = b.client.Close()
	}
}

// connect makes the client, which connects again by itself. With a user it asks for a token. It does not try again if the
// certificate is not trusted.
func (b *Inspector) connect(ctx context.Context) error {
	if b.client != nil {
		return nil
	}
	if slices.ContainsFunc(b.config.Endpoints, isSecure) {
		if err := b.noMajority(ctx); inspect.CertificateAdvice(err) != "" {
			return b.explain(err)
		}
	}
	client, err := clientv3.New(b.config)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return b.explain(b.noMajority(ctx))
	case err != nil:
		return b.explain(fmt.Errorf("%w: %w", driver.ErrDenied, err))
	}
	b.client = client
	try, cancel := context.WithTimeout(ctx, inspect.DialTimeout)
	defer cancel()
	// What a majority has to answer. Any other error comes of reading, too, and is explained there.
	if _, err = client.Get(try, b.prefix, clientv3.WithPrefix(), clientv3.WithCountOnly()); try.Err() != nil &&
		err != nil {
		return b.explain(b.noMajority(ctx))
	}
	return nil
}

// noMajority is the error of a cluster without a majority, with the reason if no endpoint accepts connections.
func (b *Inspector) noMajority(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, inspect.DialTimeout)
	defer cancel()
	for _, endpoint := range b.config.Endpoints {
		if err = b.dial(ctx, endpoint); err == nil {
			return errNoMajority
		}
	}
	return fmt.Errorf("%w: %w", errNoMajority, err)
}

// dial connects to an endpoint once. The client would retry without reporting the reason.
func (b *Inspector) dial(ctx context.Context, endpoint string) error {
	_, address, found := strings.Cut(endpoint, "://")
	if !found {
		address = endpoint
	}
	dial := (&net.Dialer{}).DialContext
	if isSecure(endpoint) {
		dial = (&tls.Dialer{Config: b.config.TLS}).DialContext
	}
	conn, err := dial(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func isSecure(endpoint string) bool { return strings.HasPrefix(endpoint, "https://") }

func (b *Inspector) explain(err error) error {
	return inspect.Explain(b, err, inspect.Remedies{
		driver.Unreachable: inspect.CertificateAdvice(err),
		driver.Denied: "check --etcd-username and --etcd-password-file: " +
			"the user's role needs read on the prefix and on " + b.fenceKey,
	})
}

// Ping implements inspect.Inspector: a majority has to answer.
func (b *Inspector) Ping(ctx context.Context) (time.Time, error) {
	err := b.connect(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if err = b.answers(ctx); err != nil {
		err = b.explain(unanswered(err))
	}
	return time.Time{}, err
}

// answers is nil if a majority answers, also if it refuses.
func (b *Inspector) answers(ctx context.Context) error {
	_, err := b.client.Get(ctx, b.fenceKey, clientv3.WithCountOnly())
	if errors.Is(err, rpctypes.ErrUserEmpty) || errors.Is(err, rpctypes.ErrPermissionDenied) {
		return nil
	}
	return err
}

// HeldLocks implements inspect.Inspector.
func (b *Inspector) HeldLocks(ctx context.Context) ([]inspect.HeldLock, error) {
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	all, err := etcdlock.ReadHeldLocks(ctx, b.client, b.prefix, b.fenceKey)
	return all, b.explain(err)
}

// Waiting implements inspect.Inspector.
func (b *Inspector) Waiting(ctx context.Context) ([]inspect.Waiting, error) {
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	all, err := etcdlock.ReadWaiting(ctx, b.client, b.prefix)
	return all, b.explain(err)
}

// Resource implements inspect.Inspector.
func (b *Inspector) Resource(key string) string { return strings.TrimPrefix(key, b.prefix) }

// Locker makes an engine that takes locks there. The caller closes it before the Inspector.
func (b *Inspector) Locker(ctx context.Context, opts ...lock.Option) (*engine.Engine, error) {
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	return etcdlock.New(b.client, append(opts[:len(opts):len(opts)], lock.WithPrefix(b.prefix),
		etcdlock.WithFenceKey(b.fenceKey))...)
}
