package coverage

import (
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
)

// maxCompared bounds the memory for shared values: some 40 bytes each.
const maxCompared = 50_000

// Values finds the identities that more than one key has, on whatever node. They identify a holder and not one lease.
// It compares all values that a sweep reads with the findings of earlier sweeps, and the first maxCompared with each
// other. A shared value stays shared as long as a finding has it.
type Values struct {
	seed maphash.Seed

	mu       sync.Mutex
	key      map[uint64]uint64 // of the first key that had the value, both as their hashes
	shared   map[uint64]bool
	early    map[uint64]bool // known when the sweep began
	overflow bool            // not all values were compared with one another
}

// NewValues starts with the findings of the registry and the results of the sweep before; before is nil for the first
// sweep.
func NewValues(known []registry.Entry, before *Values) *Values {
	s := &Values{
		seed: maphash.MakeSeed(), key: make(map[uint64]uint64), shared: make(map[uint64]bool),
		early: make(map[uint64]bool),
	}
	if before != nil {
		s.seed = before.seed
	}
	for i := range known {
		id := s.hash(known[i].Identity)
		if before != nil && before.isShared(id) {
			s.shared[id] = true
		}
		s.early[id] = true
		s.noteHash(id, s.hash(known[i].Key))
	}
	return s
}

func (s *Values) hash(text string) uint64 { return maphash.String(s.seed, text) }

// Note records a value of a page.
func (s *Values) Note(v *keyreader.Value) {
	identity := v.Identity()
	if identity == v.Type {
		return // it is that of nothing; see holders.Doubt
	}
	id, key := s.hash(identity), s.hash(v.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteHash(id, key)
}

// noteHash requires that the lock is held, or that nobody else knows s.
func (s *Values) noteHash(id, key uint64) {
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

func (s *Values) isShared(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shared[id]
}

// MissSome records that the sweep does not read all keys, because it continues an earlier one.
func (s *Values) MissSome() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overflow = true
}

// unique returns an error unless no other key had f's value.
func (s *Values) unique(f *registry.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.hash(f.Identity)
	switch {
	case s.shared[id]:
		return fmt.Errorf("%w: another key has the same value, so it identifies a holder "+
			"and not this lease: check it by hand", repair.ErrNotRepairable)
	case s.overflow && !s.early[id]:
		return fmt.Errorf("%w: its value was not compared with that of every other key: "+
			"there are too many for one sweep, or it did not read all: sweep again", repair.ErrIncomplete)
	}
	return nil
}
