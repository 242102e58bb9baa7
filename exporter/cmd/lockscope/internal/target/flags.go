package target

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// System is what metrics and results call Redis.
const System = "redis"

// varRedisURL is where platforms say which server is an app's.
const varRedisURL = "REDIS_URL"

var errTwoPasswords = errors.New("the Redis password is set both by --redis-password-file and by " +
	ui.VarRedisPassword + ": use one")

// Flags say which servers a command talks to.
type Flags struct {
	URLs   *ui.List
	Config Config
}

// Register adds the flags.
func (r *Flags) Register(set *pflag.FlagSet) {
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
func (r *Flags) Named() bool { return len(r.URLs.Values()) > 0 || r.Config.File != "" }

// Open makes clients and connects to nothing yet. The caller closes them.
func (r *Flags) Open(a *ui.App) ([]Node, error) {
	c := r.Config
	c.URLs, c.source = r.URLs.Values(), "--redis"
	c.Stdin = a.In
	if url := a.Env[varRedisURL]; url != "" && !r.Named() {
		c.URLs, c.source = []string{url}, varRedisURL
	}
	return c.open(a)
}

// OpenURLs does it for other servers with the same users, and for none of --redis-file.
func (r *Flags) OpenURLs(a *ui.App, urls []string) ([]Node, error) {
	c := r.Config
	c.URLs, c.File = urls, ""
	return c.open(a)
}

// open adds the secrets of the environment.
func (c Config) open(a *ui.App) ([]Node, error) {
	c.Password, c.SentinelPassword = a.Env[ui.VarRedisPassword], a.Env[ui.VarSentinelPassword]
	if c.Password != "" && c.PasswordFile != "" {
		return nil, errTwoPasswords
	}
	return c.Open()
}

// Release closes the clients; errors no longer matter then.
func Release(nodes []Node) { _ = Close(nodes) }
