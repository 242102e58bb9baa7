package holders

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Saved is a Watch as it is written to disk: digests, no key and no value.
type Saved struct {
	Nodes   []savedRound `json:"nodes"`
	Watched []byte       `json:"watched"` // savedHolders, longest held first

	rebase func(time.Time) time.Time // see Rebase; nil: as they are
}

type savedRound struct {
	Node string    `json:"node"`
	Done time.Time `json:"done,omitzero"`
}

// Rebase has Restore convert all times; zero times stay zero.
func (s *Saved) Rebase(at func(time.Time) time.Time) { s.rebase = at }

// savedHolder has a fixed size. Times and durations are in milliseconds, 0 for none.
type savedHolder struct {
	Key, Identity              uint64
	First, Whole, Last, Expiry int64
	Longest                    int64
	Count, Looks, Node         int32 // negative Looks: of one that says since when it is held
}

// Save returns what the watch knows.
func (w *Watch) Save() Saved {
	w.mu.Lock()
	defer w.mu.Unlock()
	var to Saved
	for _, r := range w.rounds {
		to.Nodes = append(to.Nodes, savedRound{r.node, r.done})
	}
	holders := make([]savedHolder, 0, len(w.seen))
	for k, e := range w.seen {
		if e.says {
			e.looks = -e.looks
		}
		holders = append(holders, savedHolder{
			Key: k, Identity: e.identity, First: millis(e.first), Whole: millis(e.whole), Last: millis(e.last),
			Expiry:  millis(e.expiry),
			Longest: e.longest.Milliseconds(), Count: int32(e.count), Looks: int32(e.looks), Node: int32(e.node),
		})
	}
	slices.SortFunc(holders, func(a, b savedHolder) int { return int(a.First - b.First) })
	to.Watched, _ = binary.Append(nil, binary.LittleEndian, holders) // of fixed size: it cannot fail
	return to
}

// Restore takes over what an earlier watch knew.
func (w *Watch) Restore(from Saved) error {
	size := binary.Size(savedHolder{})
	holders := make([]savedHolder, min(len(from.Watched)/size, 2*w.limit))
	if err := binary.Read(bytes.NewReader(from.Watched), binary.LittleEndian, holders); err != nil {
		return fmt.Errorf("the stored data is damaged: remove it: %w", err)
	}
	for _, r := range from.Nodes {
		w.rounds = append(w.rounds, round{node: r.Node, number: 1, done: from.at(r.Done)})
	}
	for _, h := range holders {
		e := lease{
			identity: h.Identity, first: from.at(atMillis(h.First)), whole: from.at(atMillis(h.Whole)),
			last: from.at(atMillis(h.Last)), expiry: from.at(atMillis(h.Expiry)),
			longest: time.Duration(h.Longest) * time.Millisecond, count: int(h.Count), looks: int(h.Looks),
			node: int(h.Node),
		}
		if e.says = e.looks < 0; e.says {
			e.looks = -e.looks
		}
		if e.node >= len(w.rounds) || e.node < 0 {
			e.node = adrift
		}
		w.seen[h.Key] = e
		w.add(&e)
	}
	w.settle()
	return nil
}

// at is a saved time as Restore has it.
func (s *Saved) at(t time.Time) time.Time {
	if s.rebase == nil {
		return t
	}
	return s.rebase(t)
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func atMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// Digest makes digests with its own salt.
type Digest struct{ salt [16]byte }

// NewDigest makes a Digest with a new salt.
func NewDigest() (d Digest) {
	_, _ = rand.Read(d.salt[:]) // never fails
	return d
}

// Salted makes a Digest with the salt of an earlier one; see [Digest.Salt].
func Salted(salt []byte) (d Digest) {
	copy(d.salt[:], salt)
	return d
}

// Salt returns the argument for [Salted].
func (d Digest) Salt() []byte { return d.salt[:] }

// Number returns a short digest, enough to tell some thousand texts apart.
func (d Digest) Number(text string) uint64 {
	sum := d.sum(text)
	return binary.LittleEndian.Uint64(sum[:8])
}

// Text returns a long digest, enough to tell any two texts apart.
func (d Digest) Text(text string) string {
	sum := d.sum(text)
	return hex.EncodeToString(sum[:16])
}

func (d Digest) sum(text string) [sha256.Size]byte {
	buf := make([]byte, 0, 256)
	return sha256.Sum256(append(append(buf, d.salt[:]...), text...))
}
