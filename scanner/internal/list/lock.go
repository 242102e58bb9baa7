package list

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/listing"
)

// newLock combines what the answering nodes have under a key into one lock. ok is false if none has it. silent is the
// number of nodes that did not answer.
func newLock(looks []keyreader.Value, silent int) (l listing.Lock, ok bool) {
	groups := groupByHolder(looks)
	if len(groups) == 0 {
		return listing.Lock{}, false
	}
	if l, ok := readLock(looks, silent); ok {
		return l, true
	}
	slices.SortFunc(groups, func(a, b *share) int {
		return cmp.Or(len(b.ttls)-len(a.ttls), cmp.Compare(listing.Rank(b.ttls[0]), listing.Rank(a.ttls[0])),
			strings.Compare(a.mark, b.mark))
	})
	first := groups[0]
	l = listing.Lock{
		Key: first.value.Key, Type: first.value.Type,
		Nodes: len(first.ttls), Of: len(looks), Silent: silent, Split: len(groups) > 1,
		Hold: holders.Holder(first.value), LongestTTL: first.ttls[0],
	}
	if v := first.value; v.Type == keyreader.Hash && v.Fields == nil && !holders.Foreign(v) && v.Size > 0 {
		l.Readers = &listing.Readers{Count: int(v.Size)} // nothing else that is a lock has so many fields
	}
	l.TTL = first.quorumTTL(l.Quorum())
	l.Hold.Fence = fenceOf(first.fences, l.Of+l.Silent)
	return l, true
}

// readLock combines the readers of a read/write lock. ok is false if there are none, or if more nodes have something
// else. If the time of all readers is over, but a key of theirs never expires, nobody has the lock.
func readLock(looks []keyreader.Value, silent int) (l listing.Lock, ok bool) {
	var nodes []nodeReaders
	var stays *keyreader.Value
	others := 0
	for i := range looks {
		v := &looks[i]
		switch {
		case v.Gone():
		case v.Type == keyreader.Hash && holders.Readers(v):
			l.Key, l.Type = v.Key, v.Type
			nodes = append(nodes, nodeReaders{TTL: v.TTL, Fields: v.Fields})
			if v.TTL == keyreader.Never {
				stays = v
			}
		default:
			others++
		}
	}
	if len(nodes) == 0 || others > len(nodes) {
		return listing.Lock{}, false
	}
	l.Of, l.Silent, l.Split = len(looks), silent, others > 0
	if ok = l.SetReaders(joinReaders(nodes, l.Of, l.Silent, time.Now())); stays == nil {
		return l, ok
	}
	if l.LongestTTL = keyreader.Never; !ok {
		l.Hold = holders.Holder(stays)
	}
	return l, true
}

// share is one holder's share of the nodes.
type share struct {
	mark   string           // tells holders apart; never shown
	value  *keyreader.Value // on one of the nodes
	ttls   []time.Duration
	fences []uint64 // zeros if lockscope did not write it
}

func groupByHolder(looks []keyreader.Value) []*share {
	var groups []*share
	for i := range looks {
		v := &looks[i]
		if v.Gone() {
			continue
		}
		mark, fence := holderMark(v)
		at := slices.IndexFunc(groups, func(h *share) bool { return h.mark == mark })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &share{mark: mark, value: v})
		}
		groups[at].ttls = append(groups[at].ttls, v.TTL)
		groups[at].fences = append(groups[at].fences, fence)
	}
	for _, h := range groups {
		slices.SortFunc(h.ttls, func(a, b time.Duration) int { return cmp.Compare(listing.Rank(b), listing.Rank(a)) })
	}
	return groups
}

// holderMark is the same on all nodes that granted one holder's attempt. lockscope's counters may differ there, its
// token never does.
func holderMark(v *keyreader.Value) (mark string, fence uint64) {
	if token, fence := holders.Grant(v); token != "" {
		return token, fence
	}
	return v.Identity(), 0
}

// fenceOf returns the highest token that a holder's or a reader's token is certainly not below, from those on the nodes that
// have it. Each node counts independently, and the holder has the highest count of a quorum. A minority may have granted
// too late to be heard, and may have counted on from a later number.
func fenceOf(fences []uint64, nodes int) uint64 {
	slices.Sort(fences)
	unheard := nodes - (nodes/2 + 1)
	return fences[max(0, len(fences)-1-unheard)]
}

// quorumTTL returns the TTL of the node whose expiry ends the quorum.
func (h *share) quorumTTL(quorum int) time.Duration {
	if len(h.ttls) < quorum {
		return 0
	}
	return h.ttls[quorum-1]
}
