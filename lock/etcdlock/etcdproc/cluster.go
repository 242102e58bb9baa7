package etcdproc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

const (
	startTimeout = time.Minute
	portAttempts = 5
)

// Cluster is an etcd cluster.
type Cluster struct {
	Members []*Member
	dir     string
	ports   *process.Ports
	secure  *tls.Config // of clients; nil without TLS
}

// Certificate is the members' certificate for clients, as PEM files, and the authority that clients need to trust.
type Certificate struct {
	CertFile, KeyFile string
	Client            *tls.Config
}

// Start starts a cluster of this many members and returns when a majority serves. options are etcd's own
// flags, for each member. The data is below LOCKSCOPE_ETCD_DIR if that is set, else in memory if there is
// room for it.
func Start(ctx context.Context, members int, options ...string) (*Cluster, error) {
	return startAny(ctx, members, nil, options)
}

// StartTLS is like [Start], with members that accept only TLS from clients.
func StartTLS(ctx context.Context, members int, cert Certificate, options ...string) (*Cluster, error) {
	return startAny(ctx, members, cert.Client,
		append([]string{"--cert-file", cert.CertFile, "--key-file", cert.KeyFile}, options...))
}

func startAny(ctx context.Context, members int, secure *tls.Config, options []string) (*Cluster, error) {
	var err error
	for range portAttempts { // another process may take a port first
		var c *Cluster
		if c, err = start(ctx, members, secure, options); err == nil {
			return c, nil
		}
		if errors.Is(err, ErrNotInstalled) || ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

func start(ctx context.Context, members int, secure *tls.Config, options []string) (*Cluster, error) {
	dir, err := os.MkdirTemp(dataDir(members), "etcdproc-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, secure: secure}
	if err := c.run(ctx, members, options); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) run(ctx context.Context, members int, options []string) error {
	var err error
	if c.ports, err = process.ReservePorts(2 * members); err != nil {
		return err
	}
	scheme := "http"
	if c.secure != nil {
		scheme = "https"
	}
	var all []string
	for i := range members {
		name := fmt.Sprint("m", i+1)
		m := &Member{
			name: name, dir: filepath.Join(c.dir, name), options: options, secure: c.secure,
			client: fmt.Sprint(scheme, "://127.0.0.1:", c.ports.Numbers[2*i]),
			peer:   fmt.Sprint("http://127.0.0.1:", c.ports.Numbers[2*i+1]),
		}
		c.Members = append(c.Members, m)
		all = append(all, name+"="+m.peer)
	}
	for _, m := range c.Members {
		m.cluster = strings.Join(all, ",")
		if err := os.Mkdir(m.dir, 0o700); err != nil {
			return err
		}
		if err := m.Start(); err != nil {
			return err
		}
	}
	return c.Await(ctx)
}

// Endpoints returns the URLs for clients.
func (c *Cluster) Endpoints() (urls []string) {
	for _, m := range c.Members {
		urls = append(urls, m.client)
	}
	return urls
}

// Client returns a client of the cluster. Close it when you are done with it.
func (c *Cluster) Client() (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), TLS: c.secure, DialTimeout: 2 * time.Second,
		Logger: zap.NewNop()})
}

// Await returns when every running member serves, which needs a majority.
func (c *Cluster) Await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, m := range c.Members {
		for {
			if !m.process.Running() {
				if ctx.Err() == nil && m.process.ExitCode() > 0 {
					return m.process.Err()
				}
				break // it was killed
			}
			if m.serves(ctx) == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s does not serve: %w", m.name, ctx.Err())
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

// serves asks the member for something that a majority has to answer.
func (m *Member) serves(ctx context.Context) error {
	return m.ask(ctx, func(ctx context.Context, client *clientv3.Client) error {
		_, err := client.Get(ctx, "health")
		return err
	})
}

func (m *Member) ask(ctx context.Context, do func(context.Context, *clientv3.Client) error) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{m.client}, TLS: m.secure, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return do(ctx, client)
}

// Leader returns the leader among the members that answer.
func (c *Cluster) Leader(ctx context.Context) (*Member, error) {
	for _, m := range c.Members {
		var leads bool
		err := m.ask(ctx, func(ctx context.Context, client *clientv3.Client) error {
			status, err := client.Status(ctx, m.client)
			leads = err == nil && status.Leader == status.Header.MemberId
			return err
		})
		if err == nil && leads {
			return m, nil
		}
	}
	return nil, errors.New("etcdproc: no member leads")
}

// Stop ends all members and removes their directories.
func (c *Cluster) Stop() error {
	var errs []error
	for _, m := range c.Members {
		errs = append(errs, m.Kill())
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir), c.ports.Release())...)
}
