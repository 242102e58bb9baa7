package listing

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// Lock is one lock over all nodes that answered. A node here is one client given to scanner.New: a server, or a
// cluster as a whole.
type Lock struct {
	Key      string // as stored: any bytes; see [inspect.KeyText]
	Resource string // the key without what all keys of its pattern begin with
	Type     string // Redis type: string, hash, ...

	Nodes  int  // nodes that agree on the holder; zero if the time of all readers is over, and their key is still there
	Of     int  // nodes that answered, with or without this lock
	Silent int  // nodes that did not answer
	Split  bool // some nodes have another holder: a running attempt, or a leftover

	// Hold is what the value on most nodes says about the holder; of several readers, about the one that began first.
	Hold inspect.Hold
	// Readers are the holders of a read/write lock that is read; nil for all other locks.
	Readers *Readers
	// TTL is the time until the lock is no longer Held: zero if it is not held now, negative if it never expires.
	TTL time.Duration
	// LongestTTL is the time until the key expires on the last node that has this holder: negative if it never expires
	// on one of them. A lock that is not held, such as a leftover on a minority of the nodes, has only this TTL.
	LongestTTL time.Duration
	// At is when the nodes were asked. Hold and TTL are of that time.
	At time.Time
}

// Held reports whether a quorum of the nodes may have the lock: those that agree on its holder and those that did not
// answer.
func (l *Lock) Held() bool { return l.Nodes >= l.Quorum() }

// Quorum returns how many of the answering nodes form a quorum together with the silent ones.
func (l *Lock) Quorum() int { return max(1, (l.Of+l.Silent)/2+1-l.Silent) }

// Certain reports whether a quorum of all nodes has the lock, whether or not those that do not answer have it.
func (l *Lock) Certain() bool { return l.Nodes >= (l.Of+l.Silent)/2+1 }

// HeldFor is how long the lock had been held when it was read; zero if unknown.
func (l *Lock) HeldFor() time.Duration {
	if l.Hold.Since.IsZero() {
		return 0
	}
	return max(0, l.At.Sub(l.Hold.Since))
}

// Order sorts the locks of a [Listing]. The first ones are kept if there are more than its limit.
type Order string

// The orders of a Listing.
const (
	ByTTL      Order = "ttl"      // longest TTL first, after those that never expire
	ByAge      Order = "age"      // oldest first, unknown age last
	ByResource Order = "resource" // by the bytes of the name
)

// comparison returns a function that compares two locks: negative if a comes first. Ties are broken by key, so that
// every listing has one order.
func (o Order) comparison() func(a, b *Lock) int {
	switch o {
	case ByAge:
		return func(a, b *Lock) int { return cmp.Or(compareAge(a, b), strings.Compare(a.Key, b.Key)) }
	case ByResource:
		return func(a, b *Lock) int {
			return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.Key, b.Key))
		}
	}
	return func(a, b *Lock) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), strings.Compare(a.Key, b.Key))
	}
}

// Rank makes TTLs comparable: a key that never expires ranks after every other.
func Rank(ttl time.Duration) time.Duration {
	if ttl < 0 {
		return math.MaxInt64
	}
	return ttl
}

// rank is that of the TTL. A lock that is held and has none is on a system that tells none: it comes last.
func (l *Lock) rank() time.Duration {
	if l.TTL == 0 && l.Held() {
		return -1
	}
	return Rank(l.TTL)
}

func compareAge(a, b *Lock) int {
	switch unknown := a.Hold.Since.IsZero(); {
	case unknown == b.Hold.Since.IsZero():
		return a.Hold.Since.Compare(b.Hold.Since)
	case unknown:
		return 1
	}
	return -1
}
