package node

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Source is one independent server of a Redlock: a standalone server or a cluster. Its clients and names do not
// change.
type Source struct {
	Name    string
	Client  redis.UniversalClient // the Scanner's own
	Cluster *redis.ClusterClient  // the same, if it is one
	Replica *redis.Client         // the Scanner's own; nil if there is none
	DB      int

	address string
	open    Sockets // the Scanner's own
}

// Close closes the connections.
func (s *Source) Close() error {
	err := s.Client.Close()
	if s.Replica != nil {
		err = errors.Join(err, s.Replica.Close())
	}
	return err
}

// Interrupt ends waits for a server that hangs.
func (s *Source) Interrupt() { s.open.Interrupt() }

// clientName is the name of the connections in CLIENT LIST.
const clientName = "lockscope-scanner"

// NewSources makes the sources of the clients. names and replicas are in the order of the clients, or empty.
func NewSources(clients []redis.UniversalClient, names []string, replicas []redis.UniversalClient) ([]*Source, error) {
	if len(clients) == 0 {
		return nil, errors.New("none given")
	}
	var sources []*Source
	fail := func(i int, err error) ([]*Source, error) {
		errs := []error{fmt.Errorf("node %d: %w", i+1, err)}
		for _, s := range sources {
			errs = append(errs, s.Close())
		}
		return nil, errors.Join(errs...)
	}
	for i, given := range clients {
		src, err := newSource(given)
		if err != nil {
			return fail(i, err)
		}
		sources = append(sources, src)
		if len(names) > 0 {
			src.Name = names[i]
		}
		if err := src.differs(sources[:i]); err != nil {
			return fail(i, err)
		}
		if len(replicas) > 0 {
			if err := src.setReplica(replicas[i]); err != nil {
				return fail(i, err)
			}
		}
	}
	return sources, nil
}

func newSource(given redis.UniversalClient) (*Source, error) {
	s := &Source{}
	switch given := redisconn.Unwrap(given).(type) {
	case *redis.Client:
		if given != nil {
			own := Connect(given, clientName, &s.open)
			s.Client, s.DB, s.address = own, own.Options().DB, redisconn.Name(own.Options())
			s.Name = s.address
			return s, nil
		}
	case *redis.ClusterClient:
		if given != nil {
			own := ConnectCluster(given, clientName, &s.open)
			s.Client, s.Cluster, s.address = own, own, redisconn.ClusterName(own.Options())
			s.Name = s.address
			return s, nil
		}
	}
	if isNil(given) {
		return nil, errors.New("the client is nil")
	}
	return nil, fmt.Errorf(
		"a %T shards keys by its own rules: use a *redis.Client or a *redis.ClusterClient", given)
}

// differs refuses a node that was given twice, or has another node's name.
func (s *Source) differs(others []*Source) error {
	for i, other := range others {
		if other.address == s.address && s.address != redisconn.SentinelAddress {
			return fmt.Errorf("it is the same server as node %d: %s", i+1, s.address)
		}
		if other.Name == s.Name {
			return fmt.Errorf("its name %s is also that of node %d: set names with WithNodeNames", s.Name, i+1)
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

func (s *Source) setReplica(given redis.UniversalClient) error {
	if isNil(given) {
		return nil
	}
	replica, ok := given.(*redis.Client)
	if !ok || s.Cluster != nil {
		return errors.New("WithReplicas: only a standalone node can have a replica, and it must be a *redis.Client")
	}
	if replica.Options().DB != s.DB {
		return fmt.Errorf("WithReplicas: the replica's client uses database %d, the node's uses %d",
			replica.Options().DB, s.DB)
	}
	s.Replica = Connect(replica, clientName, &s.open)
	return nil
}

// Names returns the sorted names of the sources.
func Names(sources []*Source) []string {
	names := make([]string, len(sources))
	for i, src := range sources {
		names[i] = src.Name
	}
	slices.Sort(names)
	return names
}
