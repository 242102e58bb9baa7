package node

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/server"
)

// Source is one independent server of a Redlock: a standalone server, or a cluster.
// It is clients and their names, which do not change after New.
type Source struct {
	Name    string
	Client  redis.UniversalClient // the Scanner's own
	Cluster *redis.ClusterClient  // the same, if it is one
	Replica *redis.Client         // the Scanner's own; nil if there is none
	DB      int

	address string
	open    server.Connections // the Scanner's own
}

// Connections returns the masters there are now.
func (s *Source) Connections(ctx context.Context) ([]Connection, error) {
	if s.Cluster == nil {
		master := s.Client.(*redis.Client)
		c := Connection{Node: s.Name, Source: s, Master: master, Pages: master}
		if s.Replica != nil {
			c.Pages = s.Replica
		}
		return []Connection{c}, nil
	}
	masters, err := s.masters(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Connection, len(masters))
	for i, m := range masters {
		all[i] = Connection{Node: m.Options().Addr, Source: s, Master: m, Pages: m}
	}
	return all, nil
}

// masters of a cluster, by address.
func (s *Source) masters(ctx context.Context) ([]*redis.Client, error) {
	var mu sync.Mutex
	var masters []*redis.Client
	err := s.Cluster.ForEachMaster(ctx, func(_ context.Context, m *redis.Client) error {
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

// Close closes the connections.
func (s *Source) Close() error {
	err := s.Client.Close()
	if s.Replica != nil {
		err = errors.Join(err, s.Replica.Close())
	}
	return err
}

// Interrupt ends what waits for the answer of a server that hangs.
func (s *Source) Interrupt() { s.open.Interrupt() }
