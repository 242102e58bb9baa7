package scanner

import (
	"hash/maphash"
	"time"
)

// watch remembers since when locks have had their value, for formats that do not
// say since when they are held. A full watch takes no more locks until some it has
// are gone; so those it has are watched for as long as they last.
type watch struct {
	limit int
	seed  maphash.Seed
	round uint32
	seen  map[uint64]watched
}

// watched is kept by hashes, so that its size does not depend on names. Two of
// 10,000 keys share a hash once in 10^11 times.
type watched struct {
	identity uint64
	first    time.Time
	round    uint32
}

func newWatch(limit int) *watch {
	return &watch{limit: limit, seed: maphash.MakeSeed(), seen: make(map[uint64]watched)}
}

// note returns since when the key is known to have had this value; ok is false if
// there is no place to remember that.
func (w *watch) note(key, identity string, now time.Time) (since time.Time, ok bool) {
	k, id := maphash.String(w.seed, key), maphash.String(w.seed, identity)
	entry, known := w.seen[k]
	if !known && len(w.seen) >= w.limit {
		return time.Time{}, false
	}
	if !known || entry.identity != id {
		entry = watched{identity: id, first: now}
	}
	entry.round = w.round
	w.seen[k] = entry
	return entry.first, true
}

// endRound is called when every lock has been looked at since the last call: those
// that were not seen are gone.
func (w *watch) endRound() {
	for k, entry := range w.seen {
		if entry.round != w.round {
			delete(w.seen, k)
		}
	}
	w.round++
}
