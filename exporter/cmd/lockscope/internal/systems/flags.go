package systems

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/zklock"
)

// Flags say which systems beside Redis a command reads.
type Flags struct {
	config                             backend.Config
	etcd, zookeeper                    *flags.List
	postgresPasswordFile, passwordFile string
}

// Register adds the flags.
func (f *Flags) Register(set *pflag.FlagSet) {
	c := &f.config
	set.StringVar(&c.Postgres, "postgres", "", "PostgreSQL server with locks of pglock, "+
		"as postgres://user@host:port/database or the key=value pairs of psql. "+
		"The --tls flags hold for it, too: with one, the server's certificate is verified")
	set.StringVar(&c.Schema, "schema", pglock.DefaultSchema,
		"schema of the locks in PostgreSQL: WithSchema of the services")
	set.StringVar(&f.postgresPasswordFile, "postgres-password-file", "",
		"file with the password for --postgres; or the variable "+flags.VarPostgresPassword)
	f.etcd = flags.NewList("endpoint")
	set.Var(f.etcd, "etcd", "members of one etcd cluster with locks of etcdlock or concurrency.Mutex, as host:port or "+
		"https://host:port; repeat it or separate by commas. "+
		"The --tls flags are for https://")
	set.StringVar(&c.EtcdPrefix, "etcd-prefix", lock.DefaultPrefix,
		"what the keys of locks in etcd begin with: WithPrefix of the services")
	set.StringVar(&c.EtcdFenceKey, "etcd-fence-key", etcdlock.DefaultFenceKey,
		"key in etcd on which fencing tokens count: WithFenceKey of the services")
	set.StringVar(&c.EtcdUsername, "etcd-username", "", "user of the etcd cluster")
	set.StringVar(&f.passwordFile, "etcd-password-file", "",
		"file with the password of --etcd-username; or the variable "+flags.VarEtcdPassword)
	f.zookeeper = flags.NewList("server")
	set.Var(f.zookeeper, "zookeeper", "servers of one ZooKeeper ensemble with locks of zklock, zk.Lock or Curator, as "+
		"host:port; repeat it or separate by commas. "+
		"The variable "+flags.VarZooKeeperAuth+" is user:password where the nodes are not for everybody")
	set.StringVar(&c.ZooKeeperRoot, "zookeeper-root", zklock.DefaultRoot,
		"node below which each lock has one: WithRoot of the services")
}

// Open makes the backends that are named, and connects to none. The caller closes them.
func (f *Flags) Open(a *app.App, redis *target.Flags, prefixes []string) (all []backend.Backend, err error) {
	c := f.config
	c.Etcd, c.ZooKeeper, c.ZooKeeperAuth, c.Prefixes = f.etcd.Values(), f.zookeeper.Values(),
		a.Env[flags.VarZooKeeperAuth], prefixes
	c.TLSElsewhere = redis.Named()
	if c.PostgresPassword, err = secret(a, "--postgres-password-file", f.postgresPasswordFile,
		flags.VarPostgresPassword); err != nil {
		return nil, err
	}
	if c.EtcdPassword, err = secret(a, "--etcd-password-file", f.passwordFile, flags.VarEtcdPassword); err != nil {
		return nil, err
	}
	if c.TLS, err = redis.Config.TLS.Config(); err != nil {
		return nil, err
	}
	return open(&c)
}

// secret is what a file holds, or a variable.
func secret(a *app.App, flag, file, variable string) (string, error) {
	if file == "" {
		return a.Env[variable], nil
	}
	if a.Env[variable] != "" {
		return "", fmt.Errorf("both %s and %s are given: which one counts?", flag, variable)
	}
	secret, err := target.ReadSecret(file)
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
