package servers

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
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
