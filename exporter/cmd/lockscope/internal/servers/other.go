package servers

import (
	"context"
	"crypto/tls"
	"errors"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkinspect"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdinspect"
	"github.com/lockscope/lockscope/lock/pglock/pginspect"
)

// Other is a system beside Redis.
type Other interface {
	inspect.Inspector
	// Locker makes an engine that takes locks there. The caller closes it before the Other.
	Locker(ctx context.Context, opts ...lock.Option) (*engine.Engine, error)
}

// OtherConfig says which systems there are and how to reach them.
type OtherConfig struct {
	Postgres         string // URL, or key=value pairs as psql takes them; empty: none
	Schema           string
	PostgresPassword string   // beside the URL
	Prefixes         []string // that keys in PostgreSQL begin with, and resources do not

	Etcd         []string // endpoints of one cluster
	EtcdPrefix   string
	EtcdFenceKey string
	EtcdUsername string
	EtcdPassword string
	TLS          *tls.Config // for https:// endpoints and PostgreSQL; nil: as they say themselves

	TLSElsewhere  bool     // what TLS says is for Redis, too
	ZooKeeper     []string // servers of one ensemble
	ZooKeeperRoot string
	ZooKeeperAuth string // user:password
}

func (c *OtherConfig) postgres() pginspect.Config {
	return pginspect.Config{Server: c.Postgres, Password: c.PostgresPassword, TLS: c.TLS, Schema: c.Schema, Prefixes: c.Prefixes}
}

func (c *OtherConfig) etcd() etcdinspect.Config {
	return etcdinspect.Config{Endpoints: c.Etcd, Username: c.EtcdUsername, Password: c.EtcdPassword, TLS: c.TLS,
		Prefix: c.EtcdPrefix, FenceKey: c.EtcdFenceKey}
}

func (c *OtherConfig) zookeeper() zkinspect.Config {
	return zkinspect.Config{Servers: c.ZooKeeper, Root: c.ZooKeeperRoot, Auth: c.ZooKeeperAuth}
}

var errPlainZooKeeper = errors.New("a --tls flag is set, but lockscope reads --zookeeper in plain text: leave the flag out")

// maker makes an inspector, and connects to nothing.
type maker func() (Other, error)

// makers has one for each system that is named.
func makers(c *OtherConfig) (all []maker) {
	if c.Postgres != "" {
		all = append(all, func() (Other, error) { return made(pginspect.New(c.postgres())) })
	}
	if len(c.Etcd) > 0 {
		all = append(all, func() (Other, error) { return made(etcdinspect.New(c.etcd())) })
	}
	if len(c.ZooKeeper) > 0 && c.TLS != nil && !c.TLSElsewhere && c.Postgres == "" && len(c.Etcd) == 0 {
		all = append(all, func() (Other, error) { return nil, errPlainZooKeeper })
	} else if len(c.ZooKeeper) > 0 {
		all = append(all, func() (Other, error) { return made(zkinspect.New(c.zookeeper())) })
	}
	return all
}

// made keeps a nil pointer from becoming an Other.
func made[O Other](o O, err error) (Other, error) {
	if err != nil {
		return nil, err
	}
	return o, nil
}

// openOthers makes those that are named, and connects to none.
func openOthers(makers []maker) ([]Other, error) {
	var all []Other
	var errs []error
	for _, make := range makers {
		if b, err := make(); err != nil {
			errs = append(errs, err)
		} else {
			all = append(all, b)
		}
	}
	if len(errs) > 0 {
		CloseAll(all)
		return nil, errors.Join(errs...)
	}
	return all, nil
}
