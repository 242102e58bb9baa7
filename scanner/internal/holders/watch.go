package holders

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Watch remembers since when the locks of one source have had one holder. A full watch keeps the oldest locks. Among
// new ones chance decides at the end of a round, whose order then does not matter: no lock stays unseen for long behind
// many short ones. It is safe for concurrent use: the nodes of a cluster share it, because keys move between them.
type Watch struct {
	limit int

	mu      sync.Mutex
	digest  Digest
	seen    map[uint64]lease
	saying  int              // of seen, those that say since when they are held; they take no room from the others
	holders map[uint64]int   // keys by identity
	rounds  []round          // of the nodes
	fresh   []uint64         // keys whose holder was first seen since a round ended
	refused map[uint64]lease // of those that found no room since then: all, or a sample of as many as there is room for
	without int              // how many found none
	crowded bool             // there was too little room
	whole   time.Time        // all locks that were there at that time have been seen; zero: not so
}

// round is one way through all locks of a node.
type round struct {
	node    string // "": free
	number  uint32
	began   time.Time
	done    time.Time // when the last one began that came to its end
	looking bool      // it has not come to its end since a node has gone
}

// NewWatch makes a Watch for up to limit locks.
func NewWatch(limit int, d Digest) *Watch {
	return &Watch{limit: limit, digest: d, seen: make(map[uint64]lease), holders: make(map[uint64]int),
		refused: make(map[uint64]lease)}
}

// Note records a look at a lock.
func (w *Watch) Note(s Look) (o Observed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k, id := w.digest.Number(s.Key), w.digest.Number(s.Identity)
	e, known := w.seen[k]
	if !known {
		if s.Distinct == Indistinct && s.TTL < s.Worth {
			return Observed{}
		}
		if !w.hasRoom(s.Says) {
			w.crowded = true
			if !s.Says { // one that says since when it is held is remembered to check what it says: it can do without
				o.Full = true
				w.refuse(k, w.begin(id, &s, w.place(s.Node)))
			}
			return o
		}
	}
	place := w.place(s.Node)
	if !known || !e.continues(id, &s, w.holders[id] > 1) {
		if known {
			w.drop(&e)
		}
		if !e.fresh && !s.Says {
			w.fresh = append(w.fresh, k)
		}
		e = w.begin(id, &s, place)
		w.add(&e)
	} else {
		e.see(&s, place, w.rounds[place].number)
	}
	w.seen[k] = e
	o.Whole, o.Looks = e.whole, e.looks
	if s.Distinct != PerClient || e.looks >= leastLooks {
		o.First = e.first
	}
	return o
}

// Began reports whether all locks have been seen once, so that a new one is known to be new.
func (w *Watch) Began() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.whole.IsZero()
}

// place finds or makes the round of a node.
func (w *Watch) place(node string) int {
	i := slices.IndexFunc(w.rounds, func(r round) bool { return r.node == node })
	if i >= 0 {
		return i
	}
	if i = slices.IndexFunc(w.rounds, func(r round) bool { return r.node == "" }); i < 0 {
		i, w.rounds = len(w.rounds), append(w.rounds, round{})
	}
	w.rounds[i] = round{node: node, number: w.rounds[i].number + 1}
	w.whole = time.Time{}
	return i
}

// begin is the first look at a holder.
func (w *Watch) begin(id uint64, s *Look, place int) lease {
	number := w.rounds[place].number
	e := lease{identity: id, first: s.At, whole: w.whole, expiry: s.At.Add(s.TTL), fresh: !s.Says, says: s.Says,
		round: number - 1}
	e.see(s, place, number)
	return e
}

func (w *Watch) hasRoom(says bool) bool {
	return says && w.saying < w.limit || !says && len(w.seen)-w.saying < w.limit
}

// refuse keeps a new lock for the lottery at the end of the round, or gives it the place of another one there.
func (w *Watch) refuse(k uint64, e lease) {
	if _, again := w.refused[k]; again {
		return
	}
	if w.without++; len(w.refused) == w.limit {
		if rand.IntN(w.without) >= w.limit {
			return
		}
		for other := range w.refused {
			delete(w.refused, other)
			break
		}
	}
	w.refused[k] = e
}

// draw gives places of new locks to those that found no room. Each has the same chance.
func (w *Watch) draw() {
	winners, rest := 0, w.without
	for i := range w.fresh {
		if rand.IntN(len(w.fresh)-i+rest) < rest {
			winners, rest = winners+1, rest-1
		}
	}
	rand.Shuffle(len(w.fresh), func(i, j int) { w.fresh[i], w.fresh[j] = w.fresh[j], w.fresh[i] })
	next := slices.Collect(maps.Keys(w.refused))
	slices.Sort(next) // digests: their order is as good as any
	rand.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
	for i := range min(winners, len(next)) {
		w.remove(w.fresh[i])
		e := w.refused[next[i]]
		e.fresh = false
		w.add(&e)
		w.seen[next[i]] = e
	}
	w.without = 0
	clear(w.refused)
}

func (w *Watch) remove(k uint64) {
	e := w.seen[k]
	w.drop(&e)
	delete(w.seen, k)
}

func (w *Watch) add(e *lease) {
	w.holders[e.identity]++
	if e.says {
		w.saying++
	}
}

func (w *Watch) drop(e *lease) {
	if w.holders[e.identity]--; w.holders[e.identity] <= 0 {
		delete(w.holders, e.identity)
	}
	if e.says {
		w.saying--
	}
}

// Forget records that a key is gone. Its next holder is a new one.
func (w *Watch) Forget(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.digest.Number(key)
	delete(w.refused, k)
	if e, ok := w.seen[k]; ok {
		w.drop(&e)
		e.identity = w.digest.Number("") // nobody's: an identity is never empty
		w.add(&e)
		w.seen[k] = e
	}
}
