package guard

import (
	"sync"
	"sync/atomic"
)

// Servers maps each server, by run_id, to its node: names prove nothing.
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

// claim records that the node is the server with this run_id. If another node has claimed it before,
// claim returns that node's name. A node that is one server drops the claim on its former server; a
// cluster keeps all.
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

// noteVote records that a node has voted.
func (s *Servers) noteVote() { s.inUse.Store(true) }

// voted reports whether any node has voted since this process started to use them.
func (s *Servers) voted() bool { return s.inUse.Load() }
