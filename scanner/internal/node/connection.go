package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Connection leads to one master of a source. It is good for one sweep, listing or repair, because cluster clients
// replace a master's client when the topology changes.
type Connection struct {
	Node   string // as reports have it
	Source *Source
	Master *redis.Client
	Pages  *redis.Client // where pages are read: the replica if there is one
}

// Find finds the master that a finding names. It does not use what sweeps know of nodes, which belongs to the running
// sweep.
func Find(ctx context.Context, sources []*Source, node string) (Connection, error) {
	var errs []error
	for _, src := range sources {
		if src.Cluster == nil && src.Name != node {
			continue
		}
		found, err := src.Connections(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("find masters of %s: %w", src.Name, err))
		}
		for _, c := range found {
			if c.Node == node {
				return c, nil
			}
		}
	}
	return Connection{}, errors.Join(append(errs, errors.New("the node does not exist at the moment"))...)
}

// Connections returns the current masters.
func (s *Source) Connections(ctx context.Context) ([]Connection, error) {
	if s.Cluster == nil {
		master := s.Client.(*redis.Client)
		c := Connection{Node: s.Name, Source: s, Master: master, Pages: master}
		if s.Replica != nil {
			c.Pages = s.Replica
		}
		return []Connection{c}, nil
	}
	masters, err := Masters(ctx, s.Cluster)
	if err != nil {
		return nil, err
	}
	all := make([]Connection, len(masters))
	for i, m := range masters {
		all[i] = Connection{Node: m.Options().Addr, Source: s, Master: m, Pages: m}
	}
	return all, nil
}

// Masters returns the masters of a cluster by address.
func Masters(ctx context.Context, cluster *redis.ClusterClient) ([]*redis.Client, error) {
	var mu sync.Mutex
	var masters []*redis.Client
	err := cluster.ForEachMaster(ctx, func(_ context.Context, m *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, m)
		return nil
	})
	if err == nil && len(masters) == 0 {
		err = errors.New("the cluster has no masters")
	}
	slices.SortFunc(masters, func(a, b *redis.Client) int {
		return strings.Compare(a.Options().Addr,
			b.Options().Addr)
	})
	return masters, err
}

// AtOnce is how many nodes are read at a time. It bounds the memory for their pages.
const AtOnce = 8

// Each calls do for each of n, up to atOnce at a time, and waits.
func Each(n, atOnce int, do func(i int)) {
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wg.Wait()
}
