package servers

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// System is what metrics and results call Redis.
const Redis = "redis"

// varRedisURL is where platforms say which server is an app's.
const varRedisURL = "REDIS_URL"

var errTwoPasswords = errors.New("the Redis password is set both by --redis-password-file and by " +
	ui.VarRedisPassword + ": use one")

// RedisFlags say which servers of Redis a command talks to.
type RedisFlags struct {
	URLs   *ui.List
	Config RedisConfig
}

// Register adds the flags.
func (r *RedisFlags) Register(set *pflag.FlagSet) {
	r.URLs = ui.NewList("URL")
	set.VarP(r.URLs, "redis", "r", "Redis server: host:port or a redis://, rediss://, unix:// URL. Repeat it, or "+
		"separate several by commas. A URL is redis://[user:password@]host:port[/db], rediss:// for TLS, or "+
		"unix:///path/to/socket. Without any server, lockscope reads the variable "+varRedisURL)
	set.StringVar(&r.Config.File, "redis-file", "", "`file` with one such URL per line; - is standard input")
	set.StringVar(&r.Config.Username, "redis-username", "", "ACL `user` for URLs that name none")
	set.StringVar(&r.Config.PasswordFile, "redis-password-file", "",
		"`file` with the password for URLs without one. Or set the variable "+ui.VarRedisPassword)
	set.BoolVar(&r.Config.Cluster, "cluster", false, "the URLs are seeds of one Redis Cluster: use all its masters")
	set.StringVar(&r.Config.SentinelMaster, "sentinel-master", "",
		"the URLs are Sentinels that watch the master of this `name`. "+
			"The variable "+ui.VarSentinelPassword+" has their own password")
	set.StringVar(&r.Config.TLS.CA, "tls-ca", "",
		"PEM `file` of the authorities that sign the servers' certificates, instead of the system's")
	set.StringVar(&r.Config.TLS.Cert, "tls-cert", "", "PEM `file` of this client's certificate")
	set.StringVar(&r.Config.TLS.Key, "tls-key", "", "PEM `file` of this client's key")
	set.BoolVar(&r.Config.TLS.SkipVerify, "tls-insecure-skip-verify", false,
		"accept any server certificate. For tests only")
	ui.Group(set, ui.Servers, "redis", "redis-file", "redis-username", "redis-password-file", "cluster",
		"sentinel-master")
	ui.Group(set, ui.TLS, "tls-ca", "tls-cert", "tls-key", "tls-insecure-skip-verify")
}

// Named says that a flag names servers, and not the environment of a platform alone.
func (r *RedisFlags) Named() bool { return len(r.URLs.Values()) > 0 || r.Config.File != "" }

// Open makes clients and connects to nothing yet. The caller closes them.
func (r *RedisFlags) Open(a *ui.App) ([]Node, error) {
	c := r.Config
	c.URLs, c.source = r.URLs.Values(), "--redis"
	c.Stdin = a.In
	if url := a.Env[varRedisURL]; url != "" && !r.Named() {
		c.URLs, c.source = []string{url}, varRedisURL
	}
	return c.open(a)
}

// OpenURLs does it for other servers with the same users, and for none of --redis-file.
func (r *RedisFlags) OpenURLs(a *ui.App, urls []string) ([]Node, error) {
	c := r.Config
	c.URLs, c.File = urls, ""
	return c.open(a)
}

// open adds the secrets of the environment.
func (c RedisConfig) open(a *ui.App) ([]Node, error) {
	c.Password, c.SentinelPassword = a.Env[ui.VarRedisPassword], a.Env[ui.VarSentinelPassword]
	if c.Password != "" && c.PasswordFile != "" {
		return nil, errTwoPasswords
	}
	return c.Open()
}

// Release closes the clients; errors no longer matter then.
func Release(nodes []Node) { _ = Close(nodes) }

// NamesFlag is how the services name the nodes, where that is not their addresses.
type NamesFlag struct{ List *ui.List }

// Register adds the flag.
func (n *NamesFlag) Register(set *pflag.FlagSet) {
	n.List = ui.NewList("name")
	set.Var(n.List, "node-names",
		"names that the services give the nodes (WithNodeNames). Give them in the order of --redis. "+
			"Without it, their addresses")
	ui.Group(set, ui.Servers, "node-names")
}

// Of returns a name for each node.
func (n *NamesFlag) Of(nodes []Node) ([]string, error) {
	names := n.List.Values()
	if len(names) == 0 {
		for _, node := range nodes {
			names = append(names, node.Name)
		}
	}
	if len(names) != len(nodes) {
		return nil, fmt.Errorf("--node-names has %s for %s: give one for each", inspect.Count(len(names), "name"),
			inspect.Count(len(nodes), "node"))
	}
	return names, nil
}

// Names are those of the nodes.
func Names(nodes []Node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.Name
	}
	return all
}
