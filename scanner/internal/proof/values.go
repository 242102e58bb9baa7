package proof

import (
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/repair"
)

// maxCompared bounds the memory for telling which values several keys have: some 40
// bytes each.
const maxCompared = 50_000

// Values finds out which identities more than one key has, on whatever node: they are a
// holder's, and say nothing of one lease. All values that a sweep reads are compared with
// the findings of earlier sweeps, and the first maxCompared with one another. What
// was seen to be shared stays so for as long as it is a finding's.
type Values struct {
	seed maphash.Seed

	mu       sync.Mutex
	key      map[uint64]uint64 // of the first key that had the value, both as their hashes
	shared   map[uint64]bool
	early    map[uint64]bool // known when the sweep began
	overflow bool            // not all values were compared with one another
}

// NewValues knows the findings of the ledger, and what the sweep before found out of them;
// before is nil for the first sweep.
func NewValues(known []ledger.Entry, before *Values) *Values {
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

// Note takes what a page showed.
func (s *Values) Note(v *keyreader.Value) {
	identity := v.Identity()
	if identity == v.Type {
		return // it is that of nothing; see value.Doubt
	}
	id, key := s.hash(identity), s.hash(v.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteHash(id, key)
}

// noteHash expects the lock to be held, or nobody else to know of s.
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

// MissSome says that the sweep does not read all keys: it goes on where another one ended.
func (s *Values) MissSome() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overflow = true
}

// unique says whether no other key had f's value.
func (s *Values) unique(f *ledger.Entry) error {
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
