package target

import (
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/redis/go-redis/v9"
)

// Node is one lock node: a server, a cluster or what a Sentinel points to.
type Node struct {
	Name    string // host:port, without credentials
	Address string // host:port as dialled; empty for a Sentinel's master
	Client  redis.UniversalClient
}

// Open makes the clients and connects to nothing. Close them with [Close].
func (c Config) Open() ([]Node, error) {
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

func (c Config) openSentinel(sentinels []*redis.Options) Node {
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
