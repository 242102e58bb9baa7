package servers

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Node is one lock node: a server, a cluster or what a Sentinel points to.
type Node struct {
	Name    string // host:port, without credentials
	Address string // host:port as dialled; empty for a Sentinel's master
	Client  redis.UniversalClient
}

// Open makes the clients and connects to nothing. Close them with [Close].
func (c RedisConfig) Open() ([]Node, error) {
	servers, err := c.servers()
	if err != nil {
		return nil, err
	}
	switch {
	case c.Cluster && c.SentinelMaster != "":
		return nil, fmt.Errorf("%w: --cluster and --sentinel-master", ErrConflict)
	case c.Cluster:
		return []Node{openCluster(servers)}, nil
	case c.SentinelMaster != "":
		return []Node{c.openSentinel(servers)}, nil
	}
	nodes := make([]Node, 0, len(servers))
	for _, opt := range servers {
		nodes = append(nodes, Node{Name: redisconn.Name(opt), Address: opt.Addr, Client: redis.NewClient(opt)})
	}
	return nodes, nil
}

// Clients returns the nodes' clients, in their order.
func Clients(nodes []Node) []redis.UniversalClient {
	clients := make([]redis.UniversalClient, len(nodes))
	for i, n := range nodes {
		clients[i] = n.Client
	}
	return clients
}

// Close closes every client.
func Close(nodes []Node) error {
	var errs []error
	for _, n := range nodes {
		errs = append(errs, n.Client.Close())
	}
	return errors.Join(errs...)
}

// URL is how a node is reached, without credentials.
func URL(n Node) string {
	var opt *redis.Options
	switch c := n.Client.(type) {
	case *redis.Client:
		opt = c.Options()
	case *redis.ClusterClient:
		opt = &redis.Options{Addr: n.Address, TLSConfig: c.Options().TLSConfig}
	default:
		return n.Address
	}
	switch {
	case opt.Network == "unix":
		return fmt.Sprintf("unix://%s?db=%d", opt.Addr, opt.DB)
	case opt.TLSConfig != nil:
		return fmt.Sprintf("rediss://%s/%d", opt.Addr, opt.DB)
	}
	return fmt.Sprintf("redis://%s/%d", opt.Addr, opt.DB)
}

func openCluster(seeds []*redis.Options) Node {
	first := seeds[0]
	opt := &redis.ClusterOptions{
		Username: first.Username, Password: first.Password, TLSConfig: first.TLSConfig,
		MaxRedirects: 3, DialTimeout: dialTimeout, ReadTimeout: callTimeout, WriteTimeout: callTimeout,
		ContextTimeoutEnabled: true, DisableIdentity: true, DialerRetries: 1, Dialer: first.Dialer,
		MaintNotificationsConfig: redisconn.NoMaintNotifications(),
	}
	for _, s := range seeds {
		opt.Addrs = append(opt.Addrs, s.Addr)
	}
	return Node{Name: "cluster:" + first.Addr, Address: first.Addr, Client: redis.NewClusterClient(opt)}
}

func (c RedisConfig) openSentinel(sentinels []*redis.Options) Node {
	first := sentinels[0]
	opt := &redis.FailoverOptions{
		MasterName: c.SentinelMaster, SentinelPassword: c.SentinelPassword,
		Username: first.Username, Password: first.Password, DB: first.DB, TLSConfig: first.TLSConfig,
		DialTimeout: dialTimeout, ReadTimeout: callTimeout, WriteTimeout: callTimeout,
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, DisableIdentity: true,
	}
	for _, s := range sentinels {
		opt.SentinelAddrs = append(opt.SentinelAddrs, s.Addr)
	}
	return Node{Name: "sentinel:" + c.SentinelMaster, Client: redis.NewFailoverClient(opt)}
}

const (
	dialTimeout = 3 * time.Second
	// callTimeout bounds commands whose context does not: long enough for a page
	// of a scan on a busy server.
	callTimeout = 5 * time.Second
)

// RedisConfig says which servers there are and how to reach them.
type RedisConfig struct {
	URLs     []string // redis://, rediss:// or host:port
	File     string   // more of them, one a line; "-" is standard input
	Username string   // for URLs that name no user
	Password string   // for URLs without one

	PasswordFile string // instead of Password
	TLS          TLS

	Cluster          bool   // the URLs are seeds of one Redis Cluster
	SentinelMaster   string // the URLs are Sentinels that watch this master
	SentinelPassword string

	Stdin io.Reader // for File "-"

	source string // the flag or variable that URLs are from, for errors; "" if another flag is named there
}

// Errors of bad input. They come wrapped with what to do about it.
var (
	ErrNoServers = errors.New(
		"no Redis server given: use --redis URL, --redis-file FILE, LOCKSCOPE_REDIS or REDIS_URL")
	ErrBadURL = errors.New("is not a server address (its text is withheld: it may hold a password). " +
		"Use redis://[user:password@]host:port[/db], unix://[user:password@]/path, host:port, localhost or an " +
		"address, and percent-encode special characters of the password")
	ErrConflict = errors.New("flags conflict")
)

// Redis is what metrics and results call Redis.
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
			"The variable "+ui.VarSentinelPassword+" contains their password")
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
		names = Names(nodes)
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
