package servers

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend/postgres"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/pglock"
)

// Flags say which systems beside Redis a command reads.
type OtherFlags struct {
	config                             backend.Config
	etcd, zookeeper                    *ui.List
	set                                *pflag.FlagSet
	postgresPasswordFile, passwordFile string
}

// RegisterPostgres adds the flags of PostgreSQL alone, for OpenPostgres.
func (f *OtherFlags) RegisterPostgres(set *pflag.FlagSet) {
	c := &f.config
	set.StringVar(&c.Postgres, "postgres", "", "PostgreSQL `server` with locks of pglock. Give "+
		"postgres://user@host:port/database or the key=value pairs of psql. "+
		"The --tls flags apply to it: with any of them, the server's certificate is verified")
	set.StringVar(&c.Schema, "schema", pglock.DefaultSchema,
		"`schema` of the locks in PostgreSQL: WithSchema of the services")
	set.StringVar(&f.postgresPasswordFile, "postgres-password-file", "",
		"`file` with the password for --postgres. Or set the variable "+ui.VarPostgresPassword)
	ui.Group(set, "Other systems", "postgres", "schema", "postgres-password-file")
}

// Register adds the flags.
func (f *OtherFlags) Register(set *pflag.FlagSet) {
	f.RegisterPostgres(set)
	f.set = set
	c := &f.config
	f.etcd = ui.NewList("endpoint")
	set.Var(f.etcd, "etcd",
		"member of one etcd cluster with locks. etcdlock and concurrency.Mutex are known. Give host:port or "+
			"https://host:port; repeat it or separate by commas. The --tls flags apply to https://")
	set.StringVar(&c.EtcdPrefix, "etcd-prefix", lock.DefaultPrefix,
		"`prefix` of the lock keys in etcd: WithPrefix of the services")
	set.StringVar(&c.EtcdFenceKey, "etcd-fence-key", etcdlock.DefaultFenceKey,
		"`key` in etcd that counts fencing tokens: WithFenceKey of the services")
	set.StringVar(&c.EtcdUsername, "etcd-username", "", "`user` of the etcd cluster")
	set.StringVar(&f.passwordFile, "etcd-password-file", "",
		"`file` with the password of --etcd-username. Or set the variable "+ui.VarEtcdPassword)
	f.zookeeper = ui.NewList("server")
	set.Var(f.zookeeper, "zookeeper",
		"server of one ZooKeeper ensemble with locks. zklock, zk.Lock and Curator are known. "+
			"Give host:port; repeat it or separate by commas. "+
			"If the znodes are protected, set the variable "+ui.VarZooKeeperAuth+" to user:password")
	set.StringVar(&c.ZooKeeperRoot, "zookeeper-root", zklock.DefaultRoot,
		"parent `node` of the locks in ZooKeeper: WithRoot of the services")
	ui.Group(set, "Other systems", "etcd", "etcd-prefix", "etcd-fence-key", "etcd-username", "etcd-password-file",
		"zookeeper", "zookeeper-root")
}

// Named reports whether a flag or a variable names a system.
func (f *OtherFlags) Named() bool {
	if f.set == nil {
		return false // a command without these flags
	}
	return f.config.Postgres != "" || len(f.etcd.Values())+len(f.zookeeper.Values()) > 0
}

// Files are those of secrets.
func (f *OtherFlags) Files() (paths []string) {
	for _, path := range []string{f.postgresPasswordFile, f.passwordFile} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// Open makes the backends that are named, and connects to none. The caller closes them.
func (f *OtherFlags) Open(a *ui.App, redis *RedisFlags, prefixes []string) (all []backend.Backend, err error) {
	c, err := f.whole(a, redis, prefixes)
	if err != nil {
		return nil, err
	}
	return openOthers(&c)
}

// whole has what all systems need.
func (f *OtherFlags) whole(a *ui.App, redis *RedisFlags, prefixes []string) (c backend.Config, err error) {
	if c, err = f.configuration(a, redis); err != nil {
		return c, err
	}
	c.Etcd, c.ZooKeeper, c.ZooKeeperAuth, c.Prefixes = f.etcd.Values(), f.zookeeper.Values(),
		a.Env[ui.VarZooKeeperAuth], prefixes
	c.TLSElsewhere = redis.Named()
	c.EtcdPassword, err = secretOf(a, "--etcd-password-file", f.passwordFile, ui.VarEtcdPassword)
	return c, err
}

// PostgresNamed says that --postgres names a server.
func (f *OtherFlags) PostgresNamed() bool { return f.config.Postgres != "" }

// OpenPostgres makes the backend of PostgreSQL, and connects to nothing. The caller closes it.
func (f *OtherFlags) OpenPostgres(a *ui.App, redis *RedisFlags) (*postgres.Backend, error) {
	c, err := f.configuration(a, redis)
	if err != nil {
		return nil, err
	}
	return postgres.New(&c)
}

// configuration has what PostgreSQL needs.
func (f *OtherFlags) configuration(a *ui.App, redis *RedisFlags) (c backend.Config, err error) {
	c = f.config
	if c.PostgresPassword, err = secretOf(a, "--postgres-password-file", f.postgresPasswordFile,
		ui.VarPostgresPassword); err != nil {
		return c, err
	}
	c.TLS, err = redis.Config.TLS.Config()
	return c, err
}

// secret is what a file holds, or a variable.
func secretOf(a *ui.App, flag, file, variable string) (string, error) {
	if file == "" {
		return a.Env[variable], nil
	}
	if a.Env[variable] != "" {
		return "", fmt.Errorf("the password is set both by %s and by %s: use one", flag, variable)
	}
	secret, err := ReadSecret(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	return secret, nil
}

// CloseAll closes what Open made.
func CloseAll(all []backend.Backend) {
	for _, b := range all {
		b.Close()
	}
}
