package servers

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
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

// fields are the names in a configuration file of what remedies call by their flags. Longer names come first.
var fields = strings.NewReplacer(
	"--postgres-password-file, "+ui.VarPostgresPassword, "password_file",
	"--postgres-password-file", "password_file", "--postgres", "postgres", "--schema", "schema",
	"--etcd-username", "username", "--etcd-password-file", "password_file", "--etcd-prefix", "etcd_prefix",
	"--etcd-fence-key", "etcd_fence_key", "--zookeeper-root", "zookeeper_root", "--zookeeper", "zookeeper",
	"set "+ui.VarZooKeeperAuth+" to the", "write into zookeeper_auth_file the", ui.VarZooKeeperAuth,
	"the text of zookeeper_auth_file", "--tls-ca", "tls.ca", "--tls-cert", "tls.cert", "--tls-key", "tls.key",
	"a --tls flag is set", "tls is set",
	"leave the flag out", "leave it out", "use --allow-empty", "set allow_empty: true", "--prefix", "prefixes",
)

// fileError is an error whose remedy names fields of a configuration file.
type fileError struct{ error }

func (e *fileError) Error() string { return fields.Replace(e.error.Error()) }

func (e *fileError) Unwrap() error { return e.error }

// OpenFromFile is [Flags.OpenOthers] for a group of a configuration file.
func OpenFromFile(c *OtherConfig) ([]Other, error) { return openOthers(makersOfFile(c)) }

// makersOfFile are makers whose errors name fields of a configuration file.
func makersOfFile(c *OtherConfig) (all []maker) {
	database := ""
	if c.Postgres != "" {
		database = pginspect.Database(c.Postgres)
	}
	for _, m := range makers(c) {
		all = append(all, func() (Other, error) {
			b, err := m()
			if err != nil {
				return nil, InFile(err)
			}
			return ofFile{b, database}, nil
		})
	}
	return all
}

// ofFile is a system that a configuration file names.
type ofFile struct {
	Other
	database string // of PostgreSQL
}

// Address has the database: a file may have several of one server.
func (b ofFile) Address() string {
	if b.database == "" {
		return b.Other.Address()
	}
	return b.Other.Address() + "/" + b.database
}

func (b ofFile) Ping(ctx context.Context) (time.Time, error) { return inFile(b.Other.Ping(ctx)) }

func (b ofFile) HeldLocks(ctx context.Context) ([]inspect.HeldLock, error) {
	return inFile(b.Other.HeldLocks(ctx))
}

func (b ofFile) Waiting(ctx context.Context) ([]inspect.Waiting, error) {
	return inFile(b.Other.Waiting(ctx))
}

func (b ofFile) Locker(ctx context.Context, opts ...lock.Option) (*engine.Engine, error) {
	return inFile(b.Other.Locker(ctx, opts...))
}

func (b ofFile) Leaks(ctx context.Context, r *inspect.Rules) (inspect.Look, error) {
	look, err := b.Other.Leaks(ctx, r)
	for _, gaps := range [][]inspect.Gap{look.Gaps, look.Skipped} {
		for i := range gaps {
			gaps[i].Detail = fields.Replace(gaps[i].Detail)
		}
	}
	return look, InFile(err)
}

func inFile[T any](answer T, err error) (T, error) { return answer, InFile(err) }

// InFile has the remedy of an error name fields of a configuration file.
func InFile(err error) error {
	if err == nil {
		return nil
	}
	return &fileError{err}
}
