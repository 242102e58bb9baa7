package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// Connection is the way to one master of a source. Cluster clients replace a
// master's client when the topology changes, so it is good for one sweep, listing
// or repair.
type Connection struct {
	Node   string // as reports have it
	Source *Source
	Master *redis.Client
	Pages  *redis.Client // where pages are read: the replica if there is one
}

// Reader makes a Reader of the master's keys.
func (c *Connection) Reader(q keyreader.Query, learnt keyreader.Capability) *keyreader.Reader {
	return keyreader.New(c.Master, c.Pages, q, learnt)
}

// Find finds the master that a finding names. It does without what sweeps know
// of nodes, which is theirs for as long as one is under way.
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
	return Connection{}, errors.Join(append(errs, errors.New("there is no such node now"))...)
}
