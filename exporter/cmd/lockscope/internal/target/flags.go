package target

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
)

// System is what metrics and results call Redis.
const System = "redis"

// varRedisURL is where platforms say which server is an app's.
const varRedisURL = "REDIS_URL"

var errTwoPasswords = errors.New("both --redis-password-file and " + flags.VarRedisPassword +
	" are given: which one counts?")

// Flags say which servers a command talks to.
type Flags struct {
	URLs   *flags.List
	Config Config
}

// Register adds the flags.
func (r *Flags) Register(set *pflag.FlagSet) {
	r.URLs = flags.NewList("URL")
	set.VarP(r.URLs, "redis", "r", "Redis server as redis://[user:password@]host:port[/db], rediss:// for TLS, "+
		"unix:///path/to/socket, host:port, localhost or an address; "+
		"repeat it or separate by commas. Without any server the variable "+varRedisURL+" counts")
	set.StringVar(&r.Config.File, "redis-file", "", "file with one such URL a line; - is standard input")
	set.StringVar(&r.Config.Username, "redis-username", "", "ACL user for URLs that name none")
	set.StringVar(&r.Config.PasswordFile, "redis-password-file", "",
		"file with the password for URLs without one; or the variable "+flags.VarRedisPassword)
	set.StringVar(&r.Config.TLS.CA, "tls-ca", "",
		"PEM file of the authorities that sign the servers' certificates, instead of the system's")
	set.StringVar(&r.Config.TLS.Cert, "tls-cert", "", "PEM file of this client's certificate")
	set.StringVar(&r.Config.TLS.Key, "tls-key", "", "PEM file of this client's key")
	set.BoolVar(&r.Config.TLS.SkipVerify, "tls-insecure-skip-verify", false, "believe any server: for tests only")
	set.BoolVar(&r.Config.Cluster, "cluster", false,
		"the URLs are seeds of one Redis Cluster: all its masters are meant")
	set.StringVar(&r.Config.SentinelMaster, "sentinel-master", "",
		"the URLs are Sentinels, and this is the master they watch; "+
			"their own password comes from the variable "+flags.VarSentinelPassword)
}

// Named says that a flag names servers, and not the environment of a platform alone.
func (r *Flags) Named() bool { return len(r.URLs.Values()) > 0 || r.Config.File != "" }

// Open makes clients and connects to nothing yet. The caller closes them.
func (r *Flags) Open(a *app.App) ([]Node, error) { return r.OpenURLs(a, r.URLs.Values()) }

// OpenURLs does it for other servers of the same users.
func (r *Flags) OpenURLs(a *app.App, urls []string) ([]Node, error) {
	c := r.Config
	c.URLs = urls
	c.Stdin = a.In
	if url := a.Env[varRedisURL]; url != "" && len(urls) == 0 && c.File == "" {
		c.URLs = []string{url}
	}
	c.Password, c.SentinelPassword = a.Env[flags.VarRedisPassword], a.Env[flags.VarSentinelPassword]
	if c.Password != "" && c.PasswordFile != "" {
		return nil, errTwoPasswords
	}
	return c.Open()
}

// close releases the clients; what goes wrong then concerns nobody any more.
func Release(nodes []Node) { _ = Close(nodes) }
