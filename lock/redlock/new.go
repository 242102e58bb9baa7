package redlock

import (
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/cluster"
	"github.com/lockscope/lockscope/lock/redlock/internal/lanes"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
	"github.com/lockscope/lockscope/lock/redlock/internal/standalone"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// New returns an engine on the given clients: a single-node lock on one client, a Redlock on more.
// Each client is one independent node; a Sentinel failover client or a cluster client counts as one.
//
// New does not connect yet. It accepts the options of package lock and of this package, and fails with
// lock.ErrInvalidNode, lock.ErrInvalidOption or lock.ErrInvalidTTL. Close the engine when you are done
// with it, then the clients.
//
// The engine opens connections of its own, with the clients' addresses, credentials, TLS, dialers
// and process hooks. It does not change the clients. A type of your own may embed a client: its methods are not called.
//
// Use an odd number of nodes: four nodes tolerate no more failures than three.
func New(clients []redis.UniversalClient, opts ...lock.Option) (*engine.Engine, error) {
	base, s, err := newSettings(len(clients), opts)
	if err != nil {
		return nil, err
	}
	return newEngine(clients, base, s)
}

func newEngine(clients []redis.UniversalClient, base *engine.Settings, s settings) (*engine.Engine, error) {
	clients = redisconn.UnwrapAll(clients)
	if err := checkClients(clients); err != nil {
		return nil, err
	}
	known, err := nodesOf(clients, base)
	if err != nil {
		return nil, err
	}
	config := s.guard(guard.NewServers(), base.Clock, len(clients))
	config.Fingerprint = guard.NewFingerprint(namesOf(known), base.MaxTTL)
	config.Vouch = vouchCommand(clients, namesOf(known), base.MaxTTL, s)
	common, timeout := scripts.New(), base.LongestNodeTimeout()
	nodes := make([]driver.Node, 0, len(known))
	for _, m := range known {
		config.Node, config.DB, config.Cluster = m.name, m.db, m.cluster
		g := guard.New(config)
		switch given := m.given.(type) {
		case *redis.ClusterClient:
			c := cluster.Config{Timeout: timeout, Hooks: s.hooks}
			nodes = append(nodes, engine.Async(cluster.New(given, g, common, c)))
		case *redis.Client:
			c := lanes.Config{Clock: base.Clock, Timeout: timeout, Hooks: s.hooks}
			nodes = append(nodes, standalone.New(given, g, common, c))
		}
		base.Servers = append(base.Servers, fmt.Sprintf("%s %s %d", m.own, m.address, m.db))
	}
	base.Namespace = namespaceOf(clients)
	e, err := base.NewEngine(nodes)
	if err != nil {
		return nil, errors.Join(err, closeAll(nodes))
	}
	return e, nil
}

func checkClients(clients []redis.UniversalClient) error {
	if len(clients) == 0 || len(clients) > lock.MaxNodes {
		return fmt.Errorf("%w: %d clients: use 1 to %d", lock.ErrInvalidNode, len(clients), lock.MaxNodes)
	}
	seen := make(map[redis.UniversalClient]int)
	for i, n := range clients {
		if first, twice := seen[n]; twice && n != nil {
			return fmt.Errorf("%w: %w: clients %d and %d are the same: remove one", lock.ErrInvalidNode,
				driver.ErrDuplicate, first+1, i+1)
		}
		seen[n] = i
	}
	return nil
}

func closeAll(nodes []driver.Node) error {
	var errs []error
	for _, n := range nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}
