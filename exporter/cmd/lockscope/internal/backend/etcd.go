package backend

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

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/scanner"
)

// Etcd is a cluster with a prefix of package etcdlock, or of plain Mutexes.
type Etcd struct {
	Client   *clientv3.Client // nil before Connect
	Prefix   string
	FenceKey string
	config   clientv3.Config
}

func newEtcd(c *Config) (*Etcd, error) {
	for i, endpoint := range c.Etcd {
		secure, err := checkEndpoint(endpoint)
		if err != nil {
			return nil, fmt.Errorf("etcd endpoint %d %w", i+1, err)
		}
		if !secure && c.TLS != nil {
			return nil, ErrPlainText
		}
	}
	return &Etcd{Prefix: c.EtcdPrefix, FenceKey: c.EtcdFenceKey, config: clientv3.Config{
		Endpoints: c.Etcd, Username: c.EtcdUsername, Password: c.EtcdPassword, TLS: c.TLS, DialTimeout: dialTimeout, Logger: zap.NewNop(),
	}}, nil
}

func checkEndpoint(endpoint string) (secure bool, err error) {
	text := endpoint
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return false, ErrBadEndpoint
	}
	if host, port, err := net.SplitHostPort(u.Host); err != nil || host == "" || port == "" {
		return false, ErrBadEndpoint
	}
	return u.Scheme == "https", nil
}

var errNoMajority = fmt.Errorf("%w: no member answers for a majority", driver.ErrUnreachable)

// System implements Backend.
func (*Etcd) System() string { return "etcd" }

// Address implements Backend.
func (b *Etcd) Address() string {
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

// Endpoints are the members that were named.
func (b *Etcd) Endpoints() []string { return b.config.Endpoints }

// TellsTTL implements Backend.
func (*Etcd) TellsTTL() bool { return true }

// Close implements Backend.
func (b *Etcd) Close() {
	if b.Client != nil {
		_ = b.Client.Close()
	}
}

// Connect implements Backend. With a user it asks for a token. It does not try again where no certificate is believed.
func (b *Etcd) Connect(ctx context.Context) error {
	if slices.ContainsFunc(b.config.Endpoints, isSecure) {
		if err := b.noMajority(ctx); CertificateAdvice(err) != "" {
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
	b.Client = client
	try, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	// What a majority has to answer. Any other error comes of reading, too, and is explained there.
	if _, err = client.Get(try, b.Prefix, clientv3.WithPrefix(), clientv3.WithCountOnly()); try.Err() != nil && err != nil {
		return b.explain(b.noMajority(ctx))
	}
	return nil
}

// noMajority says why, if no endpoint takes connections.
func (b *Etcd) noMajority(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	for _, endpoint := range b.config.Endpoints {
		if err = b.Dial(ctx, endpoint); err == nil {
			return errNoMajority
		}
	}
	return fmt.Errorf("%w: %w", errNoMajority, err)
}

// Dial connects to an endpoint, and is done. The client tries again and again by itself, and does not say why.
func (b *Etcd) Dial(ctx context.Context, endpoint string) error {
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

// CertificateAdvice is what to do about a server that is not believed; "" if that is not what is wrong.
func CertificateAdvice(err error) string {
	if err == nil || !strings.Contains(err.Error(), "x509:") {
		return ""
	}
	return "its certificate is not believed: see --tls-ca, and the host name of the endpoint"
}

func (b *Etcd) explain(err error) error {
	return explain(b, err, remedies{
		driver.Unreachable: CertificateAdvice(err),
		driver.Denied:      "see --etcd-username and --etcd-password-file; the user's role needs read on the prefix and on " + b.FenceKey,
	})
}

// Held implements Backend.
func (b *Etcd) Held(ctx context.Context) ([]scanner.Lock, error) {
	if b.Client == nil {
		return nil, ErrNotConnected
	}
	all, err := etcdlock.ReadHeld(ctx, b.Client, b.Prefix, b.FenceKey)
	locks := make([]scanner.Lock, 0, len(all))
	for _, h := range all {
		left := h.Remaining
		if left >= 0 {
			left = max(left, time.Millisecond)
		}
		locks = append(locks, held(h.Key, strings.TrimPrefix(h.Key, b.Prefix), "key", h.Fence, h.Holder, left))
	}
	return locks, b.explain(err)
}

// Waiting implements Backend. What a waiter holds meanwhile etcd does not tell.
func (b *Etcd) Waiting(ctx context.Context) ([]Waiter, error) {
	if b.Client == nil {
		return nil, ErrNotConnected
	}
	all, err := etcdlock.ReadWaiting(ctx, b.Client, b.Prefix)
	waiters := make([]Waiter, 0, len(all))
	for _, w := range all {
		waiters = append(waiters, Waiter{Key: w.Key, Resource: strings.TrimPrefix(w.Key, b.Prefix), Since: w.Since, Says: says(w.Holder)})
	}
	return waiters, b.explain(err)
}

// says is what a holder record tells of who waits: one call, for there is no more to know.
func says(h lock.Holder) *records.Waiting {
	if h == (lock.Holder{}) {
		return nil
	}
	return &records.Waiting{Holder: h, Callers: 1}
}
