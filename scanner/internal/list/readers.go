package list

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/scanner/listing"
)

// nodeReaders are the readers on one node: the fields of the lock's hash, and the TTL of its key.
type nodeReaders struct {
	TTL    time.Duration // negative: never expires
	Fields [][2]string
}

// joinReaders combines what the nodes have into the readers of a lock, those that began first in front. of nodes
// answered, and silent did not. Readers whose time is over on a node do not count there, although Redis has the field
// until somebody else asks for the lock. It is nil if a field is not a reader's.
func joinReaders(nodes []nodeReaders, of, silent int, now time.Time) []listing.Reader {
	type votes struct {
		hold   inspect.Hold
		ttls   []time.Duration
		fences []uint64
	}
	byToken := make(map[string]*votes)
	for _, n := range nodes {
		readers, ok := n.parse(now)
		if !ok {
			return nil
		}
		for token, r := range readers {
			v := byToken[token]
			if v == nil {
				v = &votes{hold: r.Hold}
				byToken[token] = v
			}
			v.ttls, v.fences = append(v.ttls, r.TTL), append(v.fences, r.Hold.Fence)
		}
	}
	quorum := (&listing.Lock{Of: of, Silent: silent}).Quorum()
	all := make([]listing.Reader, 0, len(byToken))
	for _, v := range byToken {
		slices.SortFunc(v.ttls, func(a, b time.Duration) int { return cmp.Compare(b, a) })
		r := listing.Reader{Hold: v.hold, Nodes: len(v.ttls), Last: v.ttls[0]}
		if r.Nodes >= quorum {
			r.TTL = v.ttls[quorum-1]
		}
		r.Hold.Fence = fenceOf(v.fences, of+silent)
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b listing.Reader) int {
		return cmp.Or(a.Hold.Since.Compare(b.Hold.Since), strings.Compare(a.Hold.Instance, b.Hold.Instance),
			cmp.Compare(b.TTL, a.TTL))
	})
	return all
}

// parse returns the readers on a node, by their tokens, each with the time that it has left. The key expires with its
// last reader, which tells the node's clock. A key that never expires tells nothing: now is taken.
func (n nodeReaders) parse(now time.Time) (readers map[string]listing.Reader, ok bool) {
	readers = make(map[string]listing.Reader, len(n.Fields))
	ends := make(map[string]time.Time, len(n.Fields))
	var last time.Time
	for _, f := range n.Fields {
		fence, expires, holder, ok := stored.ParseReader(f[0], f[1])
		if !ok {
			return nil, false
		}
		readers[f[0]] = listing.Reader{Hold: inspect.Hold{Holder: holder, Format: inspect.FormatLockscope, Fence: fence}}
		if ends[f[0]] = expires; expires.After(last) {
			last = expires
		}
	}
	if n.TTL >= 0 {
		now = last.Add(-n.TTL)
	}
	for token, r := range readers {
		if r.TTL = ends[token].Sub(now); r.TTL <= 0 {
			delete(readers, token)
			continue
		}
		readers[token] = r
	}
	return readers, true
}
