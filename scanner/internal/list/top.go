package list

import (
	"container/heap"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/lockscope/lockscope/scanner/listing"
)

// top keeps the first locks of an order and counts all. Its limit bounds its memory. It is safe for concurrent use.
type top struct {
	compare func(a, b *listing.Lock) int
	limit   int

	mu      sync.Mutex
	kept    lastFirst
	matched int64
}

func newTop(compare func(a, b *listing.Lock) int, limit int) *top {
	return &top{compare: compare, limit: limit, kept: lastFirst{compare: compare, at: make(map[string]int)}}
}

// offer takes a lock. It replaces an earlier lock of the same key.
func (t *top) offer(l listing.Lock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, ok := t.kept.at[l.Key]; ok {
		t.kept.locks[i] = &l
		heap.Fix(&t.kept, i)
		return
	}
	t.matched++
	if len(t.kept.locks) < t.limit {
		heap.Push(&t.kept, &l)
	} else if t.compare(&l, t.kept.locks[0]) < 0 {
		heap.Pop(&t.kept)
		heap.Push(&t.kept, &l)
	}
}

// result returns the kept locks in order, and the number of others. It must be the last call.
func (t *top) result() (locks []listing.Lock, omitted int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortFunc(t.kept.locks, t.compare)
	locks = make([]listing.Lock, len(t.kept.locks))
	for i, l := range t.kept.locks {
		locks[i] = *l
	}
	return locks, max(0, t.matched-int64(len(locks)))
}

// lastFirst is a heap with the last lock of the order at its root.
type lastFirst struct {
	compare func(a, b *listing.Lock) int
	locks   []*listing.Lock
	at      map[string]int // index by key
}

func (h *lastFirst) Len() int           { return len(h.locks) }
func (h *lastFirst) Less(i, j int) bool { return h.compare(h.locks[i], h.locks[j]) > 0 }

func (h *lastFirst) Swap(i, j int) {
	h.locks[i], h.locks[j] = h.locks[j], h.locks[i]
	h.at[h.locks[i].Key], h.at[h.locks[j].Key] = i, j
}

func (h *lastFirst) Push(x any) {
	l := x.(*listing.Lock)
	h.at[l.Key] = len(h.locks)
	h.locks = append(h.locks, l)
}

func (h *lastFirst) Pop() any {
	last := len(h.locks) - 1
	l := h.locks[last]
	h.locks[last] = nil
	h.locks = h.locks[:last]
	delete(h.at, l.Key)
	return l
}

// maxListed bounds the memory for listed keys to some 16 MiB.
const maxListed = 500_000

// keySet remembers keys by their hashes. Every pass that finds a key beyond its limit lists it, which takes longer
// and counts such locks more than once. It is safe for concurrent use.
type keySet struct {
	limit int
	seed  maphash.Seed

	mu   sync.Mutex
	keys map[uint64]struct{}
}

func newKeySet(limit int) *keySet {
	return &keySet{limit: limit, seed: maphash.MakeSeed(), keys: make(map[uint64]struct{})}
}

// add reports whether the key is new, as far as is remembered.
func (s *keySet) add(key string) bool {
	hash := maphash.String(s.seed, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.keys[hash]; known {
		return false
	}
	if len(s.keys) < s.limit {
		s.keys[hash] = struct{}{}
	}
	return true
}
