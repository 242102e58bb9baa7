package guard

import (
	"sync"
	"sync/atomic"
)

// Servers knows which server is behind which node, by run id: names verify nothing.
type Servers struct {
	mu     sync.Mutex
	owners map[string]*claimant
	ofOwn  map[*claimant]string // of nodes that are one server
	inUse  atomic.Bool          // one of the nodes has voted: they are not all new
}

// claimant is a node that claims the servers behind it.
type claimant struct {
	node string
	many bool // it is a cluster of them
}

// NewServers returns a registry for the nodes of one locker.
func NewServers() *Servers {
	return &Servers{owners: make(map[string]*claimant), ofOwn: make(map[*claimant]string)}
}

// claim records that the node is the server with this run id. It returns the name of
// the node that claimed it before, if that is another. A node that is one server
// gives up the claim on its former one; a cluster keeps them all.
func (s *Servers) claim(runID string, by *claimant) (other string, taken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner, ok := s.owners[runID]; ok && owner != by {
		return owner.node, true
	}
	if former := s.ofOwn[by]; former != runID && !by.many {
		delete(s.owners, former)
		s.ofOwn[by] = runID
	}
	s.owners[runID] = by
	return "", false
}

// noteVote takes note that a node has voted.
func (s *Servers) noteVote() { s.inUse.Store(true) }

// voted reports that a node has voted since this process knows them.
func (s *Servers) voted() bool { return s.inUse.Load() }
