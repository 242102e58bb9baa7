package holders

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/digest"
	"github.com/lockscope/lockscope/scanner/internal/value"
)

// Watch remembers since when the locks of one source have had one holder. A full watch
// keeps those that have been there longest; of those that are new, chance decides, so that
// nothing stays unseen for long behind many that come and go. It is safe for concurrent
// use: the nodes of a cluster share it, for keys move between them.
type Watch struct {
	limit int

	mu      sync.Mutex
	digest  digest.Digest
	seen    map[uint64]lease
	holders map[uint64]int // keys by identity
	rounds  []round        // of the nodes
	fresh   []uint64       // keys whose holder was first seen since a round ended
	offered int            // how many such there were, with those that found no room
	crowded bool           // some found none
	whole   time.Time      // all locks that were there at that time have been seen; zero: not so
}

// lease is what is known of one lock. It is kept by digests, so that its size does not depend on names.
// Two of 10,000 keys share one once in 10^11 times.
type lease struct {
	identity uint64
	first    time.Time // of this holder
	whole    time.Time // the watch's whole then
	last     time.Time
	expiry   time.Time     // when the lock was to end, when it was last renewed
	longest  time.Duration // that its TTL was
	count    int           // re-entries
	looks    int           // rounds in which it was seen
	fresh    bool
	node     int // its round's place; adrift: that node is gone
	round    uint32
}

// adrift are locks of a node that is no more. Another one may have them.
const adrift = -1

const (
	// expirySlack is by how much the end of a lock may seem to move: a PTTL is some time
	// old when it is read.
	expirySlack = time.Second
	// Who renews a lock does so when this much of its TTL is left at most; Redisson and
	// Spring at two thirds. If it was earlier, somebody took the lock anew.
	renewalBelow = 0.75
	// Who renews a lock does so before so little of its TTL is left.
	renewalAbove = 0.25
	// leastLooks prove a holder whose client always writes the same value.
	leastLooks = 3
)

// NewWatch has room for so many locks.
func NewWatch(limit int, d digest.Digest) *Watch {
	return &Watch{limit: limit, digest: d, seen: make(map[uint64]lease), holders: make(map[uint64]int)}
}

// Look is one look at a lock.
type Look struct {
	Node, Key, Identity string
	Distinct            value.Distinction
	At                  time.Time
	TTL                 time.Duration
	Count               int           // re-entries
	Worth               time.Duration // no room is given to an indistinct holder that cannot get this old
}

// Observed is what the watch knows of who holds a lock.
type Observed struct {
	First time.Time // when this holder was first seen; zero: it is not proved to be one
	Whole time.Time // when all locks were seen and this was none of them; zero: unknown
	Full  bool      // this one, or another one for it, is not remembered
}

// Note takes a look at a lock.
func (w *Watch) Note(s Look) (o Observed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k, id := w.digest.Number(s.Key), w.digest.Number(s.Identity)
	e, known := w.seen[k]
	if !known {
		if s.Distinct == value.Indistinct && s.TTL < s.Worth {
			return Observed{}
		}
		var room bool
		if room, o.Full = w.makeRoom(); !room {
			return o
		}
	}
	place := w.place(s.Node)
	if !known || !e.continues(id, &s, w.holders[id] > 1) {
		if known {
			w.drop(e.identity)
		}
		w.holders[id]++
		if !e.fresh {
			w.fresh, w.offered = append(w.fresh, k), w.offered+1
		}
		e = lease{identity: id, first: s.At, whole: w.whole, expiry: s.At.Add(s.TTL), fresh: true, round: w.rounds[place].number - 1}
	}
	e.see(&s, place, w.rounds[place].number)
	w.seen[k] = e
	if s.Distinct == value.PerClient && e.looks < leastLooks {
		return o
	}
	o.First, o.Whole = e.first, e.whole
	return o
}

// see takes down a look at the entry's lease.
func (e *lease) see(s *Look, place int, round uint32) {
	if e.round != round {
		e.looks++
	}
	if s.Distinct == value.PerClient && !e.unmoved(s) {
		e.expiry = s.At.Add(s.TTL)
	}
	e.node, e.round, e.last, e.count, e.longest = place, round, s.At, s.Count, max(e.longest, s.TTL)
}

// unmoved says that the lock ends when it was to end: nobody has written it since.
func (e *lease) unmoved(s *Look) bool { return s.At.Add(s.TTL).Sub(e.expiry).Abs() <= expirySlack }

// continues says whether what is seen is proved to be the entry's lease, or for a client's
// value at least not proved to be another one. Shared: other keys have the same value.
func (e *lease) continues(id uint64, s *Look, shared bool) bool {
	switch {
	case e.identity != id || s.Count < e.count:
		return false
	case s.Distinct == value.PerLease && !shared || e.unmoved(s):
		return true
	case s.Distinct != value.PerClient:
		return false
	}
	longest := float64(max(e.longest, s.TTL))
	late, early := e.expiry.Sub(e.last), e.expiry.Sub(s.At)
	return s.At.Add(s.TTL).After(e.expiry) && float64(late) >= renewalAbove*longest && float64(early) <= renewalBelow*longest
}

// makeRoom says whether there is room for one more, and whether that or another one goes
// without. Each that is new has the same chance to stay.
func (w *Watch) makeRoom() (room, full bool) {
	if len(w.seen) < w.limit {
		return true, false
	}
	w.crowded = true
	w.offered++
	i := rand.IntN(w.offered)
	if i >= len(w.fresh) {
		return false, true
	}
	w.remove(w.fresh[i])
	last := len(w.fresh) - 1
	w.fresh[i] = w.fresh[last]
	w.fresh = w.fresh[:last]
	w.offered-- // Note counts the newcomer
	return true, true
}

func (w *Watch) remove(k uint64) {
	w.drop(w.seen[k].identity)
	delete(w.seen, k)
}

func (w *Watch) drop(id uint64) {
	if w.holders[id]--; w.holders[id] <= 0 {
		delete(w.holders, id)
	}
}

// Forget is told that a key is gone. Whoever has it next is another holder.
func (w *Watch) Forget(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.digest.Number(key)
	if e, ok := w.seen[k]; ok {
		w.drop(e.identity)
		e.identity = w.digest.Number("") // nobody's: an identity is never empty
		w.holders[e.identity]++
		w.seen[k] = e
	}
}
