package redlock

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// checkClient refuses nil clients and clients of a kind that lockscope does not know.
func checkClient(given redis.UniversalClient) error {
	switch given := given.(type) {
	case *redis.Client:
		if given != nil {
			return nil
		}
	case *redis.ClusterClient:
		if given != nil {
			return nil
		}
	case nil:
	default:
		if v := reflect.ValueOf(given); v.Kind() != reflect.Pointer || !v.IsNil() {
			return fmt.Errorf("%w: unsupported client type %T: use a *redis.Client or a *redis.ClusterClient. "+
				"If the type only wraps one of these, pass the wrapped client", lock.ErrInvalidNode, given)
		}
	}
	return fmt.Errorf("%w: the client is nil", lock.ErrInvalidNode)
}

// node describes a node that is about to be made.
type node struct {
	given     redis.UniversalClient
	name, own string // the node's name, and its server's
	address   string // "" if unknown
	db        int
	cluster   bool
}

// nodesOf returns the nodes of these clients. It refuses a server that is named twice.
func nodesOf(clients []redis.UniversalClient, base *engine.Settings) ([]node, error) {
	all := make([]node, 0, len(clients))
	addresses := make(map[string]int)
	for i, given := range clients {
		if err := checkClient(given); err != nil {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
		n := nodeOf(given)
		n.name = base.NodeName(i, n.own)
		if first, taken := addresses[n.address]; taken && n.address != "" {
			return nil, fmt.Errorf("%w: %w: nodes %d and %d are both %s: remove one", lock.ErrInvalidNode,
				driver.ErrDuplicate, first+1, i+1, n.own)
		}
		addresses[n.address] = i
		all = append(all, n)
	}
	return all, nil
}

// nodeOf names the node after its server.
func nodeOf(given redis.UniversalClient) node {
	if c, ok := given.(*redis.ClusterClient); ok {
		n := node{given: given, own: redisconn.ClusterName(c.Options()), cluster: true}
		if addrs := c.Options().Addrs; len(addrs) > 0 {
			n.address = "cluster!" + addrs[0]
		}
		return n
	}
	opt := given.(*redis.Client).Options()
	n := node{given: given, own: redisconn.Name(opt), db: opt.DB}
	if opt.Addr != redisconn.SentinelAddress {
		n.address = opt.Network + "!" + opt.Addr
	}
	return n
}

func namesOf(nodes []node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = n.name
	}
	return all
}

// namespaceOf returns the number of the database that all clients use; "" if they differ.
func namespaceOf(clients []redis.UniversalClient) (number string) {
	for i, given := range clients {
		own := "0" // Redis Cluster has no other
		if c, ok := given.(*redis.Client); ok {
			own = strconv.Itoa(c.Options().DB)
		}
		if i > 0 && own != number {
			return ""
		}
		number = own
	}
	return number
}
