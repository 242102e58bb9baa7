package scanner

import (
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/hashslot"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/server"
)

// proof is what one sweep proved, as far as repairs need it. It does not change after
// the sweep.
type proof struct {
	nodes   map[string]nodeProof
	values  *values
	orphans bool // the nodes are those of one Redlock
}

// nodeProof is what a sweep proved of one node.
type nodeProof struct {
	gaps  []Gap
	slots *server.SlotSet // that were read, of a cluster's node; nil of one that has all keys
}

// proof takes down what the finished sweep proved.
func (w *sweep) proof(report *Report) *proof {
	p := &proof{nodes: make(map[string]nodeProof), values: w.values, orphans: w.orphans.one}
	for _, n := range report.Nodes {
		p.nodes[n.Node] = nodeProof{gaps: n.Gaps}
	}
	for _, n := range w.nodes {
		if n.source.cluster != nil {
			known := p.nodes[n.node]
			known.slots = &n.covered.read
			p.nodes[n.node] = known
		}
	}
	return p
}

// covers says whether the sweep's evidence for f is complete, and is no [Class]'s whose
// evidence it is not. A gap of a node concerns all of its keys, save that who is not
// watched matters to [HeldTooLong] alone.
func (p *proof) covers(f *Finding) error {
	if p == nil {
		return fmt.Errorf("%w: nothing was swept yet", ErrIncomplete)
	}
	n, swept := p.nodes[f.Node]
	if !swept {
		return fmt.Errorf("%w: the last sweep has not read the node: sweep again", ErrIncomplete)
	}
	for _, g := range n.gaps {
		if g.Reason != ReasonUnwatched || f.Class == HeldTooLong {
			return fmt.Errorf("%w: %s: %s", ErrIncomplete, g.Reason, g.Detail)
		}
	}
	if slot := hashslot.Of(f.Key); n.slots != nil && !n.slots.Has(slot) {
		return fmt.Errorf("%w: slot %d was moving, or not read: sweep again when it has arrived", ErrIncomplete, slot)
	}
	if f.Class == Orphan && !p.orphans {
		return fmt.Errorf("%w: the nodes are not proved to be those of one Redlock: see WithOneRedlock (--redlock)", ErrIncomplete)
	}
	return p.values.unique(f)
}

// maxCompared bounds the memory for telling which values several keys have: some 40
// bytes each.
const maxCompared = 50_000

// values finds out which identities more than one key has, on whatever node: they are a
// holder's, and say nothing of one hold. All values that a sweep reads are compared with
// the findings of earlier sweeps, and the first maxCompared with one another. What
// was seen to be shared stays so for as long as it is a finding's.
type values struct {
	seed maphash.Seed

	mu       sync.Mutex
	key      map[uint64]uint64 // of the first key that had the value, both as their hashes
	shared   map[uint64]bool
	early    map[uint64]bool // known when the sweep began
	overflow bool            // not all values were compared with one another
}

// newValues knows the findings of the ledger, and what the sweep before found out of them;
// before is nil for the first sweep.
func newValues(known []Finding, before *proof) *values {
	s := &values{
		seed: maphash.MakeSeed(), key: make(map[uint64]uint64), shared: make(map[uint64]bool), early: make(map[uint64]bool),
	}
	if before != nil {
		s.seed = before.values.seed
	}
	for i := range known {
		id := s.hash(known[i].identity)
		if before != nil && before.values.isShared(id) {
			s.shared[id] = true
		}
		s.early[id] = true
		s.noteHash(id, s.hash(known[i].Key))
	}
	return s
}

func (s *values) hash(text string) uint64 { return maphash.String(s.seed, text) }

// note takes what a page showed.
func (s *values) note(v *keyreader.Value) {
	identity := v.Identity()
	if identity == v.Type {
		return // it is that of nothing; see doubt
	}
	id, key := s.hash(identity), s.hash(v.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteHash(id, key)
}

// noteHash expects the lock to be held, or nobody else to know of s.
func (s *values) noteHash(id, key uint64) {
	first, known := s.key[id]
	switch {
	case known && first != key:
		s.shared[id] = true
	case !known && len(s.key) >= maxCompared+len(s.early):
		s.overflow = true
	case !known:
		s.key[id] = key
	}
}

func (s *values) isShared(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shared[id]
}

// missSome says that the sweep does not read all keys: it goes on where another one ended.
func (s *values) missSome() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overflow = true
}

// unique says whether no other key had f's value.
func (s *values) unique(f *Finding) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.hash(f.identity)
	switch {
	case s.shared[id]:
		return fmt.Errorf("%w: another key has the same value: it is its holder's, and says nothing of this hold; look at it by hand", ErrNotRepairable)
	case s.overflow && !s.early[id]:
		return fmt.Errorf("%w: its value was not compared with those of all other keys, which are too many for one sweep, or were not all read by it: sweep again", ErrIncomplete)
	}
	return nil
}

// oldEnough says whether a value has been where it is for the minimum age, by what was
// seen of it and not by what it says.
func (c *config) oldEnough(first, now time.Time) error {
	if left := c.repairMinAge - now.Sub(first); left > 0 {
		return fmt.Errorf("%w: seen for %v, repaired after %v: wait another %v", ErrTooYoung,
			round(max(0, now.Sub(first))), c.repairMinAge, max(round(left), time.Millisecond))
	}
	return nil
}
