// Package servers says which servers a command talks to, by flags or by a group of a configuration file, and connects
// to them. It checks everything before it connects, and no error holds a password or the text of a URL, which may hold
// one.
//
// Redis servers are [Node]s, clients of go-redis. The systems beside Redis are an [Other] each, for one question
// after the other, or a [System], which a scanner.Scanner asks again and again. [LockFlags] take locks on either.
package servers

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/pglock"
	"github.com/lockscope/lockscope/lock/pglock/pginspect"
)

// Flags say which servers a command talks to: of Redis, of the systems beside it, or of both.
type Flags struct {
	Redis  RedisFlags
	Others OtherFlags
}

// Register adds the flags.
func (f *Flags) Register(set *pflag.FlagSet) {
	f.Redis.Register(set)
	f.Others.Register(set)
}

// OnRedis reports whether the command talks to Redis: a flag names it, or nothing else is named.
func (f *Flags) OnRedis() bool { return f.Redis.Named() || !f.Others.Named() }

// Opened is what a command talks to. The caller closes it.
type Opened struct {
	Nodes  []Node
	Others []Other
}

// Close closes all connections.
func (o Opened) Close() {
	Release(o.Nodes)
	CloseAll(o.Others)
}

// Open makes clients of all that is named, and connects to none. Keys of locks beside Redis begin with the prefixes.
func (f *Flags) Open(a *ui.App, prefixes []string) (o Opened, err error) {
	if o.Others, err = f.OpenOthers(a, prefixes); err == nil && f.OnRedis() {
		o.Nodes, err = f.Redis.Open(a)
	}
	if err != nil {
		o.Close()
		return Opened{}, err
	}
	return o, nil
}

// OpenOthers is Open without Redis.
func (f *Flags) OpenOthers(a *ui.App, prefixes []string) ([]Other, error) {
	c, err := f.configuration(a, prefixes)
	if err != nil {
		return nil, err
	}
	return openOthers(makers(&c))
}

// OpenPostgres makes the inspector of PostgreSQL alone, and connects to nothing. The caller closes it.
func (f *Flags) OpenPostgres(a *ui.App) (*pginspect.Inspector, error) {
	c, err := f.ofPostgres(a)
	if err != nil {
		return nil, err
	}
	return pginspect.New(c.postgres())
}

// configuration has what all systems beside Redis need.
func (f *Flags) configuration(a *ui.App, prefixes []string) (c OtherConfig, err error) {
	if c, err = f.ofPostgres(a); err != nil {
		return c, err
	}
	o := &f.Others
	c.Etcd, c.ZooKeeper, c.ZooKeeperAuth, c.Prefixes = o.etcd.Values(), o.zookeeper.Values(),
		a.Env[ui.VarZooKeeperAuth], prefixes
	c.TLSElsewhere = f.Redis.Named()
	c.EtcdPassword, err = secretOf(a, "--etcd-password-file", o.passwordFile, ui.VarEtcdPassword)
	return c, err
}

// ofPostgres has what PostgreSQL needs.
func (f *Flags) ofPostgres(a *ui.App) (c OtherConfig, err error) {
	c = f.Others.config
	if c.PostgresPassword, err = secretOf(a, "--postgres-password-file", f.Others.postgresPasswordFile,
		ui.VarPostgresPassword); err != nil {
		return c, err
	}
	c.TLS, err = f.Redis.Config.TLS.Config()
	return c, err
}

// secretOf is what a file holds, or a variable.
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

// CloseAll closes systems beside Redis.
func CloseAll(all []Other) {
	for _, b := range all {
		b.Close()
	}
}

// OtherFlags say which systems beside Redis a command reads.
type OtherFlags struct {
	config                             OtherConfig
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

// PostgresNamed says that --postgres names a server.
func (f *OtherFlags) PostgresNamed() bool { return f.config.Postgres != "" }
