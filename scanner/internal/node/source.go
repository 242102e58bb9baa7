package node

import (
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/server"
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
	open    server.Connections // the Scanner's own
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
