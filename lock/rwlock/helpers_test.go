package rwlock_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fleet is processes on the same nodes in memory that use one read/write lock, and the judge of its leases.
type fleet struct {
	*testing.T
	nodes memlock.Nodes
	*judge
}

func newFleet(t *testing.T, nodes int) *fleet {
	return &fleet{T: t, nodes: memlock.NewNodes(nodes), judge: &judge{}}
}

// locker is that of another process.
func (f *fleet) locker(name string, opts ...lock.Option) *memlock.Locker {
	f.Helper()
	opts = append([]lock.Option{lock.WithInstance(name), lock.WithNodeTimeout(200 * time.Millisecond)}, opts...)
	l, err := memlock.New(f.nodes, opts...)
	must(f, err)
	f.Cleanup(func() { _ = l.Close() })
	return l
}

// process is the lock as another process has it.
func (f *fleet) process(name string, opts ...lock.Option) *rwlock.RWLock {
	return of(f, f.locker(name, opts...))
}

func of(t testing.TB, l lock.Locker) *rwlock.RWLock {
	t.Helper()
	rw, err := rwlock.New(l, "prices")
	must(t, err)
	return rw
}

func (f *fleet) read(l *rwlock.RWLock, opts ...lock.AcquireOption) lock.Lease {
	f.Helper()
	lease, err := l.RLock(f.Context(), opts...)
	must(f, err)
	synctest.Wait() // all nodes have answered
	return lease
}

func (f *fleet) write(l *rwlock.RWLock, opts ...lock.AcquireOption) lock.Lease {
	f.Helper()
	lease, err := l.Lock(f.Context(), opts...)
	must(f, err)
	synctest.Wait()
	return lease
}

func (f *fleet) extend(lease lock.Lease) error {
	err := lease.Extend(f.Context())
	synctest.Wait()
	return err
}

func (f *fleet) release(lease lock.Lease) {
	f.Helper()
	must(f, lease.Release(f.Context()))
	synctest.Wait()
}

// order records who did something, in order. It is safe for concurrent use.
type order struct {
	mu  sync.Mutex
	all []string
}

func (o *order) add(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, what)
}

func (o *order) seen() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.all...)
}

// judge has the leases of one lock that are valid, and says which promise was broken. It is safe for concurrent use.
type judge struct {
	mu             sync.Mutex
	held           map[lock.Lease]bool // whether it writes
	writer, reader uint64              // highest fences so far
	most           int                 // readers at once
	broken         []string
}

// asks returns what the fence of a call that begins now has to reach.
func (j *judge) asks(writes bool) (atLeast uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if writes {
		return max(j.writer, j.reader) + 1
	}
	return j.writer
}

// begins judges a lease that was just granted; atLeast is what asks returned before the call.
func (j *judge) begins(l lock.Lease, writes bool, atLeast uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if l.Remaining() <= 0 {
		return
	}
	if j.held == nil {
		j.held = make(map[lock.Lease]bool)
	}
	readers := 0
	for other, otherWrites := range j.held {
		switch {
		case other.Remaining() <= 0:
			delete(j.held, other)
		case writes || otherWrites:
			j.note("a writer and another holder are valid: %d and %d", other.Fence(), l.Fence())
		default:
			readers++
		}
	}
	j.held[l] = writes
	if l.Fence() < atLeast {
		j.note("fence %d is below %d", l.Fence(), atLeast)
	}
	if writes {
		j.writer = max(j.writer, l.Fence())
		return
	}
	j.most, j.reader = max(j.most, readers+1), max(j.reader, l.Fence())
}

func (j *judge) note(format string, args ...any) {
	j.broken = append(j.broken, fmt.Sprintf(format, args...))
}

func (j *judge) ends(l lock.Lease) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.held, l)
}

// verdict is what was broken, and how many readers there were at once.
func (j *judge) verdict() ([]string, int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken, j.most
}
