package scanner

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/value"
)

// Lock is who holds one lock, over all nodes that answered. A node is here what
// [New] was given: a server, or a cluster as a whole.
type Lock struct {
	Key      string // as stored: any bytes; see [KeyText]
	Resource string // the key without what all keys of its pattern begin with
	Type     string // Redis type: string, hash, ...

	Nodes  int  // that agree on the same holder
	Of     int  // that answered, with this lock or without
	Silent int  // that did not answer
	Split  bool // other nodes have another holder: an attempt under way, or a left-over

	// Hold is what the value tells that most nodes agree on.
	Hold Hold
	// TTL is the time until the lock is not Held any more: zero if it is not now,
	// negative if it never expires.
	TTL time.Duration
	// At is when the nodes were asked: what Hold and TTL say is of then.
	At time.Time
}

// Held reports that a quorum of the nodes may have the lock: those that agree on its
// holder, and those that did not answer.
func (l *Lock) Held() bool { return l.Nodes >= l.needed() }

// needed is how many of the nodes that answered make a quorum with those that did not.
func (l *Lock) needed() int { return max(1, (l.Of+l.Silent)/2+1-l.Silent) }

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
		return cmp.Or(cmp.Compare(rank(b.TTL), rank(a.TTL)), strings.Compare(a.Key, b.Key))
	}
}

// rank puts a TTL without end after every other.
func rank(ttl time.Duration) time.Duration {
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

// newLock makes one lock of what each node that answered has under its key. ok is
// false if none of them has it. silent is how many did not answer.
func newLock(looks []keyreader.Value, silent int) (l Lock, ok bool) {
	groups := groupByHolder(looks)
	if len(groups) == 0 {
		return Lock{}, false
	}
	slices.SortFunc(groups, func(a, b *holding) int {
		return cmp.Or(len(b.ttls)-len(a.ttls), cmp.Compare(rank(b.ttls[0]), rank(a.ttls[0])), strings.Compare(a.mark, b.mark))
	})
	first := groups[0]
	l = Lock{
		Key: first.value.Key, Type: first.value.Type,
		Nodes: len(first.ttls), Of: len(looks), Silent: silent, Split: len(groups) > 1,
		Hold: value.Holder(first.value),
	}
	l.TTL = first.quorumTTL(l.needed())
	l.Hold.Fence = first.fence(l.Of + l.Silent)
	return l, true
}

// holding is one holder's share of the nodes.
type holding struct {
	mark   string           // tells holders apart; never shown
	value  *keyreader.Value // on one of the nodes
	ttls   []time.Duration
	fences []uint64 // zeros if lockscope did not write it
}

func groupByHolder(looks []keyreader.Value) []*holding {
	var groups []*holding
	for i := range looks {
		v := &looks[i]
		if v.Gone() {
			continue
		}
		mark, fence := holderMark(v)
		at := slices.IndexFunc(groups, func(h *holding) bool { return h.mark == mark })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &holding{mark: mark, value: v})
		}
		groups[at].ttls = append(groups[at].ttls, v.TTL)
		groups[at].fences = append(groups[at].fences, fence)
	}
	for _, h := range groups {
		slices.SortFunc(h.ttls, func(a, b time.Duration) int { return cmp.Compare(rank(b), rank(a)) })
	}
	return groups
}

// holderMark is the same on all nodes that one holder's attempt was granted on: counters
// of lockscope may differ there, its token never does.
func holderMark(v *keyreader.Value) (mark string, fence uint64) {
	if token, fence := value.Grant(v); token != "" {
		return token, fence
	}
	return v.Identity(), 0
}

// fence is the latest that the holder's is not below. Each node counted for itself, and the
// holder has the highest count of a quorum: a minority, which nobody knows, granted too late
// to be heard, and may have counted on from a later one.
func (h *holding) fence(nodes int) uint64 {
	slices.Sort(h.fences)
	unheard := nodes - (nodes/2 + 1)
	return h.fences[max(0, len(h.fences)-1-unheard)]
}

// quorumTTL is that of the node with which the quorum ends.
func (h *holding) quorumTTL(quorum int) time.Duration {
	if len(h.ttls) < quorum {
		return 0
	}
	return h.ttls[quorum-1]
}
