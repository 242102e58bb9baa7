package backend

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
)

// DialTimeout bounds the first answer, so that an unreachable system does not use up the time of the others.
const DialTimeout = 5 * time.Second

// Backend is one system.
type Backend interface {
	inspect.Inspector
	// Locker makes an engine that takes locks there. The caller closes it before the Backend.
	Locker(ctx context.Context, opts ...lock.Option) (*engine.Engine, error)
}

// Config says which systems there are and how to reach them.
type Config struct {
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
