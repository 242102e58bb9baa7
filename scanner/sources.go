package scanner

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/server"
)

func newSources(clients []redis.UniversalClient, c *config) ([]*source, error) {
	if len(clients) == 0 {
		return nil, fmt.Errorf("%w: there is none", ErrInvalidNode)
	}
	var sources []*source
	fail := func(i int, err error) ([]*source, error) {
		errs := []error{fmt.Errorf("%w: node %d: %w", ErrInvalidNode, i+1, err)}
		for _, s := range sources {
			errs = append(errs, s.close())
		}
		return nil, errors.Join(errs...)
	}
	for i, given := range clients {
		src, err := newSource(given)
		if err != nil {
			return fail(i, err)
		}
		sources = append(sources, src)
		if len(c.names) > 0 {
			src.name = c.names[i]
		}
		if err := src.differs(sources[:i]); err != nil {
			return fail(i, err)
		}
		if len(c.replicas) > 0 {
			if err := src.setReplica(c.replicas[i]); err != nil {
				return fail(i, err)
			}
		}
	}
	return sources, nil
}

func newSource(given redis.UniversalClient) (*source, error) {
	s := &source{}
	switch given := given.(type) {
	case *redis.Client:
		if given != nil {
			own := server.Connect(given, ClientName, &s.open)
			s.client, s.db, s.address = own, own.Options().DB, redisconn.Name(own.Options())
			s.name = s.address
			return s, nil
		}
	case *redis.ClusterClient:
		if given != nil {
			own := server.ConnectCluster(given, ClientName, &s.open)
			s.client, s.cluster, s.address = own, own, redisconn.ClusterName(own.Options())
			s.name = s.address
			return s, nil
		}
	}
	if isNil(given) {
		return nil, errors.New("the client is nil")
	}
	return nil, fmt.Errorf("a %T spreads keys over servers in its own way; use a *redis.Client or a *redis.ClusterClient", given)
}

// differs refuses a node that was given twice, or cannot be told from another.
func (s *source) differs(others []*source) error {
	for i, other := range others {
		if other.address == s.address && s.address != redisconn.SentinelAddress {
			return fmt.Errorf("it is node %d again: both are %s", i+1, s.address)
		}
		if other.name == s.name {
			return fmt.Errorf("it is called %s as node %d is: WithNodeNames can tell them apart", s.name, i+1)
		}
	}
	return nil
}

func isNil(c redis.UniversalClient) bool {
	if c == nil {
		return true
	}
	v := reflect.ValueOf(c)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func (s *source) setReplica(given redis.UniversalClient) error {
	if isNil(given) {
		return nil
	}
	replica, ok := given.(*redis.Client)
	if !ok || s.cluster != nil {
		return errors.New("WithReplicas: only a standalone node can have a replica, which is a *redis.Client")
	}
	if replica.Options().DB != s.db {
		return fmt.Errorf("WithReplicas: the replica's client is on database %d, the node's on %d", replica.Options().DB, s.db)
	}
	s.replica = server.Connect(replica, ClientName, &s.open)
	return nil
}
