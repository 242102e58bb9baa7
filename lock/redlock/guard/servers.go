package guard

import (
	"sync"
	"sync/atomic"
)

// Servers knows which server is behind which node, by run id: names prove nothing.
type Servers struct {
	mu     sync.Mutex
	owners map[string]*Guard
	ofOwn  map[*Guard]string // of nodes that are one server
	inUse  atomic.Bool       // one of the nodes has voted: they are not all new
}

// NewServers returns a registry for the nodes of one locker.
func NewServers() *Servers {
	return &Servers{owners: make(map[string]*Guard), ofOwn: make(map[*Guard]string)}
}

// claim records that the node is the server with this run id. It returns the name of
// the node that claimed it before, if that is another. A node that is one server
// gives up the claim on its former one; a cluster keeps them all.
func (s *Servers) claim(runID string, g *Guard) (other string, taken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner, ok := s.owners[runID]; ok && owner != g {
		return owner.Node, true
	}
	if former := s.ofOwn[g]; former != runID && !g.Cluster {
		delete(s.owners, former)
		s.ofOwn[g] = runID
	}
	s.owners[runID] = g
	return "", false
}

// noteVote takes note that a node has voted.
func (s *Servers) noteVote() { s.inUse.Store(true) }

// voted reports that a node has voted since this process knows them.
func (s *Servers) voted() bool { return s.inUse.Load() }
