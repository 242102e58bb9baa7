package redlock

import (
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// New makes an engine on the given clients: a single-node lock on one, a Redlock
// on more. Each client is one independent server; a Sentinel failover client or
// a cluster client counts as one. It connects to nothing yet. It fails with
// lock.ErrInvalidNode, lock.ErrInvalidOption or lock.ErrInvalidTTL.
//
// lockscope opens connections of its own with the clients' addresses,
// credentials, TLS, dialers and process hooks, and leaves the clients as they
// are: they stay the caller's to close, after the engine.
//
// An odd number of nodes is best: four tolerate the failure of no more nodes
// than three do.
func New(clients []redis.UniversalClient, opts ...lock.Option) (*engine.Engine, error) {
	base, s, err := newSettings(len(clients), opts)
	if err != nil {
		return nil, err
	}
	return newEngine(clients, base, s)
}

func newEngine(clients []redis.UniversalClient, base *engine.Settings, s settings) (*engine.Engine, error) {
	if err := checkClients(clients); err != nil {
		return nil, err
	}
	nodes := make([]driver.Node, 0, len(clients))
	servers, common := guard.NewServers(), &shared{scripts: newScripts(), keys: newKeyCache()}
	addresses := make(map[string]int)
	c := derivation{clock: base.Clock, timeout: base.LongestNodeTimeout(), hooks: s.hooks}
	var guards []*guard.Guard
	for i, given := range clients {
		if err := checkClient(given); err != nil {
			return nil, errors.Join(fmt.Errorf("node %d: %w", i+1, err), closeAll(nodes))
		}
		g := guard.New(s.guard(servers, base.Clock, len(clients)))
		n, name, address := newDriverNode(given, c, g, common, func(own string) string { return base.NodeName(i, own) })
		guards, nodes = append(guards, g), append(nodes, n)
		if first, taken := addresses[address]; taken && address != "" {
			err := fmt.Errorf("%w: %w: nodes %d and %d are both %s", lock.ErrInvalidNode, driver.ErrDuplicate, first+1, i+1, name)
			return nil, errors.Join(err, closeAll(nodes))
		}
		addresses[address] = i
		base.Servers = append(base.Servers, fmt.Sprintf("%s %s %d", name, address, g.DB))
	}
	command := vouchCommand(clients, names(nodes), base.MaxTTL)
	for _, g := range guards {
		g.Fingerprint, g.Vouch = guard.NewFingerprint(names(nodes), base.MaxTTL), command
	}
	base.Namespace = namespaceOf(clients)
	e, err := base.NewEngine(nodes)
	if err != nil {
		return nil, errors.Join(err, closeAll(nodes))
	}
	return e, nil
}

// newDriverNode makes the node of one client, and returns what its server is called and
// where it is; the node itself may be called something else.
func newDriverNode(
	given redis.UniversalClient, c derivation, g *guard.Guard, common *shared, rename func(own string) string,
) (n driver.Node, name, address string) {
	if cluster, ok := given.(*redis.ClusterClient); ok {
		own, d, name, address := newCluster(cluster, c, examiner(g))
		g.Node, g.Cluster = rename(name), true
		return engine.Async(newClusterNode(own, d, g.Node, g, common, c.timeout)), name, address
	}
	k := newConnector(given.(*redis.Client), c)
	g.Node, g.DB = rename(k.name()), k.opt.DB
	return newNode(k, g.Node, g, common, c.timeout), k.name(), k.address()
}

// names are known once all nodes are made.
func names(nodes []driver.Node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.Name()
	}
	return all
}

func checkClients(clients []redis.UniversalClient) error {
	if len(clients) == 0 || len(clients) > lock.MaxNodes {
		return fmt.Errorf("%w: %d clients, between 1 and %d are needed", lock.ErrInvalidNode, len(clients), lock.MaxNodes)
	}
	seen := make(map[redis.UniversalClient]int)
	for i, n := range clients {
		if first, twice := seen[n]; twice && n != nil {
			return fmt.Errorf("%w: %w: clients %d and %d are one", lock.ErrInvalidNode, driver.ErrDuplicate, first+1, i+1)
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
