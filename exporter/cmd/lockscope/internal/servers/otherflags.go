package servers

import (
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/pglock"
)

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
