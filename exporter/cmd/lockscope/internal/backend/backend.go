package backend

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
)

// DialTimeout bounds the first answer, so that an unreachable system does not use up the time of the others.
const DialTimeout = 5 * time.Second

// Backend is one system. It connects when it is first asked, within seconds. Its methods are not to be called
// concurrently. Errors name the system, its address and the remedy.
type Backend interface {
	System() string  // as it is called in metrics: postgresql, etcd or zookeeper
	Address() string // without credentials

	// Ping asks for an answer that costs little. A refusal is an answer.
	Ping(ctx context.Context) error
	inspect.Reader
	// Leaks looks for leaked locks. It returns what it could read together with the error.
	Leaks(ctx context.Context, r *inspect.Rules) (inspect.Look, error)
	// Repair acts if the lock is still as guard says, or reports that it would. An error that matches
	// inspect.ErrUnsafe says that nothing was done.
	Repair(ctx context.Context, key, guard string, dry bool) (inspect.Outcome, error)
	// Discover recognises the locks of libraries. It looks at about as many keys as sample says.
	Discover(ctx context.Context, sample int) (inspect.Libraries, error)
	// Locker makes an engine that takes locks there. The caller closes it before the Backend.
	Locker(ctx context.Context, opts ...lock.Option) (*engine.Engine, error)
	// Examine judges whether locks are safe there, as the user that takes them. It changes nothing. Errors, also the end of ctx, are in its results.
	Examine(ctx context.Context, p diagnosis.Policy) diagnosis.Examination
	Close()
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
