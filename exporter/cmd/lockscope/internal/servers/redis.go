package servers

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

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
