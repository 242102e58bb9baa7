package listing

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// Lock is who holds one lock, over all nodes that answered. A node is here what
// scanner.New was given: a server, or a cluster as a whole.
type Lock struct {
	Key      string // as stored: any bytes; see [report.KeyText]
	Resource string // the key without what all keys of its pattern begin with
	Type     string // Redis type: string, hash, ...

	Nodes  int  // that agree on the same holder
	Of     int  // that answered, with this lock or without
	Silent int  // that did not answer
	Split  bool // other nodes have another holder: an attempt under way, or a left-over

	// Hold is what the value tells that most nodes agree on.
	Hold report.Hold
	// TTL is the time until the lock is not Held any more: zero if it is not now,
	// negative if it never expires.
	TTL time.Duration
	// At is when the nodes were asked: what Hold and TTL say is of then.
	At time.Time
}

// Held reports that a quorum of the nodes may have the lock: those that agree on its
// holder, and those that did not answer.
func (l *Lock) Held() bool { return l.Nodes >= l.Quorum() }

// Quorum is how many of the nodes that answered make a quorum with those that did not.
func (l *Lock) Quorum() int { return max(1, (l.Of+l.Silent)/2+1-l.Silent) }

// Order says which locks of a [Listing] come first, and so which are kept if there
// are more than its limit.
type Order string

// The orders of a Listing.
const (
	ByTTL      Order = "ttl"      // longest first, those that never expire before all
	ByAge      Order = "age"      // oldest first, those of unknown age last
	ByResource Order = "resource" // by the bytes of the name
)

// comparison returns how two locks compare: negative if a comes first. Equal ones
// are in the order of their keys, so that every listing has one right order.
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
		return cmp.Or(cmp.Compare(Rank(b.TTL), Rank(a.TTL)), strings.Compare(a.Key, b.Key))
	}
}

// Rank puts a TTL without end after every other.
func Rank(ttl time.Duration) time.Duration {
	if ttl < 0 {
		return math.MaxInt64
	}
	return ttl
}

func compareAge(a, b *Lock) int {
	switch {
	case a.Hold.Since.IsZero() || b.Hold.Since.IsZero():
		return cmp.Compare(asInt(a.Hold.Since.IsZero()), asInt(b.Hold.Since.IsZero()))
	default:
		return a.Hold.Since.Compare(b.Hold.Since)
	}
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
