package scanner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/server"
)

// source is one independent server of a Redlock: a standalone server, or a cluster.
// It is clients and their names, which do not change after New.
type source struct {
	name    string
	address string
	client  redis.UniversalClient // the Scanner's own
	cluster *redis.ClusterClient  // the same, if it is one
	replica *redis.Client         // the Scanner's own; nil if there is none
	db      int
	open    server.Connections // the Scanner's own
}

// connection is the way to one master of a source. Cluster clients replace a
// master's client when the topology changes, so it is good for one sweep, listing
// or repair.
type connection struct {
	node   string // as in [NodeReport]
	source *source
	master *redis.Client
	pages  *redis.Client // where pages are read: the replica if there is one
}

// reader makes a Reader of the master's keys.
func (c *connection) reader(q keyreader.Query, learnt keyreader.Capability) *keyreader.Reader {
	return keyreader.New(c.master, c.pages, q, learnt)
}

// connections returns the masters there are now.
func (s *source) connections(ctx context.Context) ([]connection, error) {
	if s.cluster == nil {
		master := s.client.(*redis.Client)
		c := connection{node: s.name, source: s, master: master, pages: master}
		if s.replica != nil {
			c.pages = s.replica
		}
		return []connection{c}, nil
	}
	masters, err := s.masters(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]connection, len(masters))
	for i, m := range masters {
		all[i] = connection{node: m.Options().Addr, source: s, master: m, pages: m}
	}
	return all, nil
}

// masters of a cluster, by address.
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

func (s *source) close() error {
	err := s.client.Close()
	if s.replica != nil {
		err = errors.Join(err, s.replica.Close())
	}
	return err
}
