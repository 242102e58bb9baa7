package listing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner/report"
)

// maxReaders is the largest number of readers that a [Readers] names.
const maxReaders = 16

// Readers are those that hold a read/write lock.
type Readers struct {
	// Count is how many. If there are more than were read, it is the number of fields of the lock's hash: some may have
	// expired.
	Count int
	// First are those that began first, at most 16. It is nil if they were not read.
	First []Reader
}

// Reader is one that holds a read/write lock, over all nodes that answered.
type Reader struct {
	Hold  report.Hold
	Nodes int           // that have it
	TTL   time.Duration // until the end of its quorum; zero without one
	Last  time.Duration // until its end on the last node
}

// NodeReaders are the readers on one node: the fields of the lock's hash, and the TTL of its key.
type NodeReaders struct {
	TTL    time.Duration // negative: never expires
	Fields [][2]string
}

// JoinReaders combines what the nodes have into the readers of a lock, those that began first in front. of nodes
// answered, and silent did not. Readers whose time is over on a node do not count there, although Redis has the field
// until somebody else asks for the lock. It is nil if a field is not a reader's.
func JoinReaders(nodes []NodeReaders, of, silent int, now time.Time) []Reader {
	type votes struct {
		hold   report.Hold
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
	quorum := (&Lock{Of: of, Silent: silent}).Quorum()
	all := make([]Reader, 0, len(byToken))
	for _, v := range byToken {
		slices.SortFunc(v.ttls, func(a, b time.Duration) int { return cmp.Compare(b, a) })
		r := Reader{Hold: v.hold, Nodes: len(v.ttls), Last: v.ttls[0]}
		if r.Nodes >= quorum {
			r.TTL = v.ttls[quorum-1]
		}
		r.Hold.Fence = slices.Max(v.fences)
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Reader) int {
		return cmp.Or(a.Hold.Since.Compare(b.Hold.Since), strings.Compare(a.Hold.Instance, b.Hold.Instance),
			cmp.Compare(b.TTL, a.TTL))
	})
	return all
}

// parse returns the readers on a node, by their tokens, each with the time that it has left. The key expires with its
// last reader, which tells the node's clock. A key that never expires tells nothing: now is taken.
func (n NodeReaders) parse(now time.Time) (readers map[string]Reader, ok bool) {
	readers = make(map[string]Reader, len(n.Fields))
	ends := make(map[string]time.Time, len(n.Fields))
	var last time.Time
	for _, f := range n.Fields {
		fence, expires, holder, ok := redlock.ParseReader(f[0], f[1])
		if !ok {
			return nil, false
		}
		readers[f[0]] = Reader{Hold: report.Hold{Holder: holder, Format: report.FormatLockscope, Fence: fence}}
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

// SetReaders makes the readers the holders of the lock, whose Of and Silent are set. The first of those that a quorum
// may have is its Hold; without any, the one on most nodes. It reports whether there is a reader.
func (l *Lock) SetReaders(all []Reader) bool {
	if len(all) == 0 {
		return false
	}
	held := slices.DeleteFunc(slices.Clone(all), func(r Reader) bool { return r.Nodes < l.Quorum() })
	l.LongestTTL = slices.MaxFunc(all, func(a, b Reader) int { return cmp.Compare(a.Last, b.Last) }).Last
	if len(held) == 0 {
		most := slices.MaxFunc(all, func(a, b Reader) int { return cmp.Compare(a.Nodes, b.Nodes) })
		l.Hold, l.Nodes, l.TTL, l.Readers = most.Hold, most.Nodes, 0, nil
		return true
	}
	l.Hold, l.Nodes = held[0].Hold, held[0].Nodes
	l.TTL = slices.MaxFunc(held, func(a, b Reader) int { return cmp.Compare(a.TTL, b.TTL) }).TTL
	l.Readers = &Readers{Count: len(held), First: held[:min(len(held), maxReaders)]}
	return true
}

// Writers is how many of the processes in the queue wait to write, and keep later readers out meanwhile. Processes that
// do not say what they wait for do not count.
func (w *WaitedFor) Writers() (n int) {
	for _, q := range w.Queue {
		if q.Says != nil && q.Says.Kind == lock.KindWrite {
			n++
		}
	}
	return n
}
