package semaphore_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fleet is processes on the same nodes in memory that use one semaphore, and a record of its valid permits.
type fleet struct {
	*testing.T
	nodes memlock.Nodes
	k     int
	judge
}

func newFleet(t *testing.T, nodes, k int) *fleet {
	return &fleet{T: t, nodes: memlock.NewNodes(nodes), k: k, judge: judge{t: t, k: k}}
}

// eachServed runs a test on nodes with one queue for all slots, and on nodes with a queue for each slot.
func eachServed(t *testing.T, nodes, k int, test func(t *testing.T, f *fleet)) {
	for name, s := range map[string]memlock.Semaphores{"one queue": memlock.OneQueue, "a queue a slot": memlock.EachQueue} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, nodes, k)
				f.nodes.Serve(s)
				test(t, f)
			})
		})
	}
}

// locker is that of another process. Its clock is the true one, so that it ends leases in fake time.
func (f *fleet) locker(name string, opts ...lock.Option) *memlock.Locker {
	f.Helper()
	opts = append([]lock.Option{lock.WithInstance(name), lock.WithNodeTimeout(200 * time.Millisecond)}, opts...)
	l, err := memlock.New(f.nodes, opts...)
	must(f, err)
	f.Cleanup(func() { _ = l.Close() })
	return l
}

// process is the semaphore of another process.
func (f *fleet) process(name string, opts ...lock.Option) *semaphore.Semaphore {
	return newSemaphore(f, f.locker(name, opts...), f.k)
}

func newSemaphore(t testing.TB, l lock.Locker, k int) *semaphore.Semaphore {
	t.Helper()
	s, err := semaphore.New(l, "pool", k)
	must(t, err)
	return s
}

func (f *fleet) acquire(s *semaphore.Semaphore, opts ...lock.AcquireOption) *semaphore.Permit {
	f.Helper()
	p, err := s.Acquire(f.Context(), opts...)
	must(f, err)
	f.begins(p)
	return p
}

func (f *fleet) release(p *semaphore.Permit) {
	f.Helper()
	f.ends(p)
	must(f, p.Release(f.Context()))
}

// fill acquires all permits.
func (f *fleet) fill(s *semaphore.Semaphore) (all []*semaphore.Permit) {
	f.Helper()
	for range f.k {
		all = append(all, f.acquire(s))
	}
	return all
}

// wantFree fails unless that many permits are free, and not one more.
func (f *fleet) wantFree(n int) {
	f.Helper()
	s := f.process("asks what is free")
	var all []*semaphore.Permit
	for range f.k {
		p, err := s.TryAcquire(f.Context())
		if err != nil {
			break
		}
		f.begins(p)
		all = append(all, p)
	}
	if len(all) != n {
		f.Errorf("%d permits are free, want %d", len(all), n)
	}
	for _, p := range all {
		f.release(p)
	}
}

// judge has the permits that are held. It is safe for concurrent use.
type judge struct {
	t testing.TB
	k int

	mu     sync.Mutex
	held   map[*semaphore.Permit]struct{}
	fences map[int]uint64
	most   int // valid at once
}

// begins fails the test if more than k permits are valid with p, and unless p has a slot and a fence of its own.
func (j *judge) begins(p *semaphore.Permit) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.held == nil {
		j.held, j.fences = make(map[*semaphore.Permit]struct{}), make(map[int]uint64)
	}
	for other := range j.held {
		if other.Remaining() <= 0 {
			delete(j.held, other)
		} else if other.Slot() == p.Slot() {
			j.t.Errorf("two permits have slot %d", p.Slot())
		}
	}
	j.held[p] = struct{}{}
	if j.most = max(j.most, len(j.held)); len(j.held) > j.k {
		j.t.Errorf("%d permits are valid at once, of %d", len(j.held), j.k)
	}
	if p.Slot() < 0 || p.Slot() >= j.k || p.Fence() <= j.fences[p.Slot()] {
		j.t.Errorf("slot %d, fence %d after %d", p.Slot(), p.Fence(), j.fences[p.Slot()])
	}
	j.fences[p.Slot()] = p.Fence()
}

func (j *judge) ends(p *semaphore.Permit) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.held, p)
}

// wantMost fails unless all permits were held at once.
func (j *judge) wantMost() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.most != j.k {
		j.t.Errorf("at most %d permits were held at once, of %d", j.most, j.k)
	}
}

// order records who did something, in order.
type order struct {
	mu  sync.Mutex
	all []string
}

func (o *order) add(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, fmt.Sprintf(format, args...))
}

func (o *order) seen() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.all...)
}
