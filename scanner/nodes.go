package scanner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/server"
)

// source is one independent server of a Redlock: a standalone server, or a cluster.
type source struct {
	name    string
	address string
	client  redis.UniversalClient // the Scanner's own
	cluster *redis.ClusterClient  // the same, if it is one
	replica *redis.Client         // the Scanner's own; nil if there is none
	db      int

	// Of whose turn it is.
	known map[string]*target
}

// target is one master, with what one sweep leaves to the next.
type target struct {
	name   string
	source *source
	master *redis.Client
	pages  *redis.Client // where pages are read

	path         Path  // how pages can be read; empty: not known yet
	script       int   // which command runs scripts, if path is not PathPipeline
	scriptFailed bool  // in this sweep
	calls        int64 // commands sent in this sweep
	pass         pass
	watch        *watch
}

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
	s := &source{known: make(map[string]*target)}
	switch given := given.(type) {
	case *redis.Client:
		if given != nil {
			own := server.Connect(given, ClientName)
			s.client, s.db, s.address = own, own.Options().DB, server.Address(own.Options())
			s.name = s.address
			return s, nil
		}
	case *redis.ClusterClient:
		if given != nil {
			own := server.ConnectCluster(given, ClientName)
			s.client, s.cluster, s.address = own, own, server.ClusterAddress(own.Options())
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
		if other.address == s.address && s.address != server.SentinelAddress {
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
	s.replica = server.Connect(replica, ClientName)
	return nil
}

func (s *source) close() error {
	err := s.client.Close()
	if s.replica != nil {
		err = errors.Join(err, s.replica.Close())
	}
	return err
}

// targets returns the masters there are now. Each is the same target as in earlier
// sweeps; what is known of masters that are no more is dropped.
func (s *source) targets(ctx context.Context) ([]*target, error) {
	if s.cluster == nil {
		t := s.target(s.name, s.client.(*redis.Client))
		if s.replica != nil {
			t.pages = s.replica
		}
		return []*target{t}, nil
	}
	masters, err := s.masters(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]*target, 0, len(masters))
	for _, m := range masters {
		all = append(all, s.target(m.Options().Addr, m))
	}
	for name := range s.known {
		if !slices.ContainsFunc(all, func(t *target) bool { return t.name == name }) {
			delete(s.known, name)
		}
	}
	return all, nil
}

func (s *source) masters(ctx context.Context) ([]*redis.Client, error) {
	var mu sync.Mutex
	var masters []*redis.Client
	err := s.cluster.ForEachMaster(ctx, func(_ context.Context, m *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, m)
		return nil
	})
	if err == nil && len(masters) == 0 {
		err = errors.New("the cluster has no masters")
	}
	slices.SortFunc(masters, func(a, b *redis.Client) int { return strings.Compare(a.Options().Addr, b.Options().Addr) })
	return masters, err
}

// target finds or makes the target of that name. Cluster clients replace a
// master's client when the topology changes, so it is set anew.
func (s *source) target(name string, master *redis.Client) *target {
	t := s.known[name]
	if t == nil {
		t = &target{name: name, source: s}
		s.known[name] = t
	}
	t.master, t.pages = master, master
	return t
}
