package listing

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
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
	Hold  inspect.Hold
	Nodes int           // that have it
	TTL   time.Duration // until the end of its quorum; zero without one
	Last  time.Duration // until its end on the last node
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

// ReadBy is the lock as each of its first readers has it.
func (l *Lock) ReadBy() (all []Lock) {
	if l.Readers == nil {
		return nil
	}
	for _, r := range l.Readers.First {
		one := *l
		one.Hold, one.TTL, one.Nodes = r.Hold, r.TTL, r.Nodes
		all = append(all, one)
	}
	return all
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
