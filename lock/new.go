package lock

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/internal/guard"
)

// New makes a Locker on the given clients: a single-node lock on one, a Redlock
// on more. Each client is one independent server; a Sentinel failover client or
// a cluster client counts as one. It connects to nothing yet.
//
// lockscope opens connections of its own with the clients' addresses,
// credentials, TLS, dialers and process hooks, and leaves the clients as they
// are: they stay the caller's to close, after the Redlock.
//
// An odd number of nodes is best: four tolerate the failure of no more nodes
// than three do.
func New(nodes []redis.UniversalClient, opts ...Option) (*Redlock, error) {
	cfg, err := newConfig(len(nodes), opts)
	if err != nil {
		return nil, err
	}
	if err := checkClients(nodes); err != nil {
		return nil, err
	}
	members := make([]Node, 0, len(nodes))
	servers, scripts := guard.NewServers(), newScripts()
	addresses := make(map[string]int)
	for i, given := range nodes {
		g := guard.New(cfg.guard(servers, len(nodes)))
		d, err := derive(given, &cfg, examiner(g))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("node %d: %w", i+1, err), closeAll(members))
		}
		if first, taken := addresses[d.address]; taken && d.address != "" {
			err = fmt.Errorf("%w: %w: nodes %d and %d are both %s", ErrInvalidNode, ErrDuplicateNode, first+1, i+1, d.name)
			return nil, errors.Join(err, d.Close(), closeAll(members))
		}
		addresses[d.address] = i
		g.Node, g.Cluster = nodeName(&cfg, d.name, i), d.cluster
		members = append(members, newRedisNode(d, g.Node, g, scripts, cfg.nodeTimeout))
	}
	r, err := newRedlock(members, cfg)
	if err != nil {
		return nil, errors.Join(err, closeAll(members))
	}
	return r, nil
}

// guard is how nodes are examined. With fewer than three of them a restart is only
// told of unless it is asked for: there a node that is silent is an outage, and a
// quorum that outlives a node was never promised.
func (c *config) guard(servers *guard.Servers, nodes int) guard.Config {
	return guard.Config{
		Servers: servers, Clock: c.clock, Off: c.unguarded, EvictionOK: c.evictionOK,
		Quarantine: c.quarantine, Enforce: nodes >= 3 || c.quarantineGiven,
	}
}

func nodeName(c *config, name string, i int) string {
	if len(c.aliases) > i {
		return c.aliases[i]
	}
	return name
}

func checkClients(nodes []redis.UniversalClient) error {
	if len(nodes) == 0 || len(nodes) > MaxNodes {
		return fmt.Errorf("%w: %d clients, between 1 and %d are needed", ErrInvalidNode, len(nodes), MaxNodes)
	}
	seen := make(map[redis.UniversalClient]int)
	for i, n := range nodes {
		if first, twice := seen[n]; twice && n != nil {
			return fmt.Errorf("%w: %w: clients %d and %d are one", ErrInvalidNode, ErrDuplicateNode, first+1, i+1)
		}
		seen[n] = i
	}
	return nil
}

func closeAll(nodes []Node) error {
	var errs []error
	for _, n := range nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}

// checkNames refuses equal names: in errors, traces and metrics nobody could tell
// such nodes apart.
func checkNames(nodes []Node) error {
	first := make(map[string]int)
	for i, n := range nodes {
		if j, taken := first[n.Name()]; taken {
			return fmt.Errorf("%w: %w: nodes %d and %d are both called %q: tell them apart with WithNodeNames",
				ErrInvalidNode, ErrDuplicateNode, j+1, i+1, n.Name())
		}
		first[n.Name()] = i
	}
	return nil
}

// NewFromNodes makes a Redlock on other implementations of Node, such as the
// fakes of package locktest. It takes them over: Close closes them.
func NewFromNodes(nodes []Node, opts ...Option) (*Redlock, error) {
	cfg, err := newConfig(len(nodes), opts)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 || len(nodes) > MaxNodes {
		return nil, fmt.Errorf("%w: %d nodes, between 1 and %d are needed", ErrInvalidNode, len(nodes), MaxNodes)
	}
	return newRedlock(nodes, cfg)
}

func newRedlock(nodes []Node, cfg config) (*Redlock, error) {
	if err := checkNames(nodes); err != nil {
		return nil, err
	}
	var id [8]byte
	_, _ = rand.Read(id[:])
	r := &Redlock{
		cfg: cfg, id: hex.EncodeToString(id[:]), quorum: quorumOf(len(nodes)),
		places: newPlaces(len(nodes), cfg.clock),
		group:  newGroup(),
		done:   make(chan struct{}),
		leases: make(map[*lease]struct{}),
	}
	for _, n := range nodes {
		r.members = append(r.members, &member{Node: n})
	}
	return r, nil
}
