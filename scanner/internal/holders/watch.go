package holders

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Watch remembers since when the locks of one source have had one holder. A full watch keeps the oldest locks. Among
// new ones chance decides, so that no lock stays unseen for long behind many short ones. It is safe for concurrent
// use: the nodes of a cluster share it, because keys move between them.
type Watch struct {
	limit int

	mu      sync.Mutex
	digest  Digest
	seen    map[uint64]lease
	saying  int            // of seen, those that say since when they are held; they take no room from the others
	holders map[uint64]int // keys by identity
	rounds  []round        // of the nodes
	fresh   []uint64       // keys whose holder was first seen since a round ended
	last    []uint64       // keys that were fresh before that; the present rounds have come to some of them
	offered int            // how many such there were, with those that found no room
	crowded bool           // some found none
	whole   time.Time      // all locks that were there at that time have been seen; zero: not so
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
	return &Watch{limit: limit, digest: d, seen: make(map[uint64]lease), holders: make(map[uint64]int)}
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
		var room bool
		if room, o.Full = w.makeRoom(s.Says); !room {
			return o
		}
	}
	place := w.place(s.Node)
	if !known || !e.continues(id, &s, w.holders[id] > 1) {
		if known {
			w.drop(&e)
		}
		if !e.fresh && !s.Says {
			w.fresh, w.offered = append(w.fresh, k), w.offered+1
		}
		e = lease{identity: id, first: s.At, whole: w.whole, expiry: s.At.Add(s.TTL), fresh: e.fresh || !s.Says,
			says: s.Says, round: w.rounds[place].number - 1}
		w.add(&e)
	}
	e.see(&s, place, w.rounds[place].number)
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

// makeRoom reports whether there is room for one more lock, and whether that lock or another is dropped. Each new
// lock has the same chance to stay, and so have those of the round before that this one has not come to: else the locks that
// a round sees first would never find room. A lock that says since when it is held is remembered to check what it says: it
// can do without.
func (w *Watch) makeRoom(says bool) (room, full bool) {
	if says && w.saying < w.limit || !says && len(w.seen)-w.saying < w.limit {
		return true, false
	}
	w.crowded = true
	if says {
		return false, false
	}
	w.offered++
	for {
		i := rand.IntN(w.offered + len(w.last))
		var dropped bool
		switch j := i - len(w.fresh); {
		case j < 0:
			w.remove(take(&w.fresh, i))
			dropped = true
		case j < len(w.last):
			if k := take(&w.last, j); w.awaits(k) {
				w.remove(k)
				dropped = true
			}
		default:
			return false, true
		}
		if dropped {
			w.offered-- // Note counts the newcomer
			return true, true
		}
	}
}

// take takes an element out, and puts the last one in its place.
func take(from *[]uint64, i int) uint64 {
	all := *from
	k, last := all[i], len(all)-1
	all[i], *from = all[last], all[:last]
	return k
}

// awaits reports whether the present round of a key's node has not come to it yet.
func (w *Watch) awaits(k uint64) bool {
	e, known := w.seen[k]
	return known && (e.node == adrift || e.round != w.rounds[e.node].number)
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
	if e, ok := w.seen[k]; ok {
		w.drop(&e)
		e.identity = w.digest.Number("") // nobody's: an identity is never empty
		w.add(&e)
		w.seen[k] = e
	}
}
