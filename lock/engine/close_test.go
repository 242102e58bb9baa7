package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// droppingNode queues calls that give something up until they are sent, and drops what is queued when it is closed, as
// the connections of package redlock do.
type droppingNode struct {
	driver.Node
	slowAcquires, slowReleases bool // as leaves are

	mu      sync.Mutex
	queued  []func()
	closed  bool
	dropped int
}

func (n *droppingNode) queue(send func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		n.dropped++
	}
	n.queued = append(n.queued, send)
}

func (n *droppingNode) Acquire(c driver.Call, req *driver.AcquireRequest, to driver.Answer[driver.AcquireReply]) {
	if !n.slowAcquires {
		n.Node.Acquire(c, req, to)
		return
	}
	n.queue(func() { n.Node.Acquire(c, req, to) })
}

func (n *droppingNode) Release(c driver.Call, req *driver.ReleaseRequest, to driver.Answer[driver.ReleaseReply]) {
	if !n.slowReleases {
		n.Node.Release(c, req, to)
		return
	}
	n.queue(func() { n.Node.Release(c, req, to) })
}

func (n *droppingNode) Leave(c driver.Call, req *driver.LeaveRequest, to driver.Answer[bool]) {
	n.queue(func() { n.Node.Leave(c, req, to) })
}

func (n *droppingNode) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropped, n.closed = len(n.queued), true
	return n.Node.Close()
}

// send sends what is queued, and returns how much that was.
func (n *droppingNode) send() int {
	n.mu.Lock()
	queued := n.queued
	n.queued = nil
	n.mu.Unlock()
	for _, send := range queued {
		send()
	}
	return len(queued)
}

// slowFleet is an engine on three nodes, and another process on them.
type slowFleet struct {
	e, other *engine.Engine
	nodes    []*droppingNode
	servers  []*locktest.FakeServer
}

func newSlowFleet(t *testing.T) *slowFleet {
	t.Helper()
	f := &slowFleet{}
	var nodes, plain []driver.Node
	for _, name := range []string{"a", "b", "c"} {
		s := locktest.NewFakeServer(name)
		t.Cleanup(s.Close)
		slow := &droppingNode{Node: engine.Async(s.Connect(1, locktest.Faults{}))}
		f.nodes, f.servers = append(f.nodes, slow), append(f.servers, s)
		nodes, plain = append(nodes, slow), append(plain, engine.Async(s.Connect(2, locktest.Faults{})))
	}
	began := time.Now()
	clock := engine.WithClock(func() time.Duration { return time.Since(began) })
	var err error
	if f.e, err = engine.NewEngine(nodes, clock); err != nil {
		t.Fatal(err)
	}
	if f.other, err = engine.NewEngine(plain, clock); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.other.Close() })
	return f
}

// close closes the engine while its calls are queued, and sends them after that. It returns how many there were.
func (f *slowFleet) close(t *testing.T) (sent int) {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- f.e.Close() }()
	synctest.Wait()
	for _, n := range f.nodes {
		sent += n.send()
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for i, n := range f.nodes {
		if n.dropped > 0 {
			t.Errorf("node %d dropped %d calls", i, n.dropped)
		}
	}
	return sent
}

// TestCloseWaitsForReleases: Release returns once a quorum has answered. Close then waits for the other nodes: a
// program that releases its lock and ends leaves nothing behind.
func TestCloseWaitsForReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSlowFleet(t)
		f.nodes[2].slowReleases = true
		lease, err := f.e.Acquire(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // all three have granted
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if sent := f.close(t); sent != 1 {
			t.Errorf("%d releases were queued", sent)
		}
		if held := f.servers[2].Locks(); len(held) > 0 {
			t.Errorf("%d locks are left", len(held))
		}
	})
}

// TestCloseWaitsForLeaves: a caller that gives up leaves the queue. Otherwise the next release would name a process
// that has ended.
func TestCloseWaitsForLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSlowFleet(t)
		if _, err := f.other.Acquire(t.Context(), "job"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := f.e.Acquire(ctx, "job"); err == nil {
			t.Fatal("two have the lock")
		}
		if sent := f.close(t); sent == 0 {
			t.Error("nothing left the queue")
		}
	})
}

// TestCloseWaitsForTheAttemptThatItEnds: a node that grants what nobody waits for any more is asked to release it.
func TestCloseWaitsForTheAttemptThatItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSlowFleet(t)
		for _, n := range f.nodes {
			n.slowAcquires = true
		}
		ended := waits(t.Context(), f.e, "job")
		synctest.Wait() // the nodes have been asked, and have not answered
		if sent := f.close(t); sent != len(f.nodes) {
			t.Errorf("%d acquires were under way", sent)
		}
		if err := <-ended; !errors.Is(err, lock.ErrClosed) {
			t.Error(err)
		}
		for i, s := range f.servers {
			if held := s.Locks(); len(held) > 0 {
				t.Errorf("node %d holds a lock for nobody", i)
			}
		}
	})
}

// TestCloseWaitsForTheWaitsThatItEnds: a waiter leaves the queue, and a writer lets readers in again.
func TestCloseWaitsForTheWaitsThatItEnds(t *testing.T) {
	for name, c := range map[string]struct{ held, waits lock.AcquireOption }{
		"lock":   {lock.InMode(lock.ModeExclusive), lock.InMode(lock.ModeExclusive)},
		"writer": {toRead, toWrite},
		"permit": {lock.Slots(1), lock.Slots(1)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newSlowFleet(t)
				mustAcquire(t, t.Context(), f.other, "job", c.held)
				first, behind := waits(t.Context(), f.e, "job", c.waits), waits(t.Context(), f.e, "job", c.waits)
				time.Sleep(time.Second)
				if sent := f.close(t); sent == 0 {
					t.Error("nothing left the queue")
				}
				for _, ended := range []<-chan error{first, behind} {
					if err := <-ended; !errors.Is(err, lock.ErrClosed) {
						t.Error(err)
					}
				}
				for i, s := range f.servers {
					if n := s.QueueLength(); n > 0 {
						t.Errorf("%d wait in the queue of node %d", n, i)
					}
				}
				if name == "writer" {
					mustAcquire(t, t.Context(), f.other, "job", toRead, lock.NoWait())
				}
			})
		})
	}
}

// TestCloseInAHook of a call does not wait for that call for longer than for a node.
func TestCloseInAHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSlowFleet(t)
		var took time.Duration
		ctx := locktrace.With(t.Context(), &locktrace.Trace{
			AttemptStart: func(ctx context.Context, _ locktrace.AttemptStart) context.Context {
				began := time.Now()
				if err := f.e.Close(); err != nil {
					t.Error(err)
				}
				took = time.Since(began)
				return ctx
			},
		})
		if _, err := f.e.Acquire(ctx, "job"); !errors.Is(err, lock.ErrClosed) {
			t.Error(err)
		}
		if took > engine.DefaultNodeTimeout(lock.DefaultMaxTTL) {
			t.Errorf("it took %v", took)
		}
	})
}

// TestCloseWaitsNotForANodeThatHangs: any number of releases may be queued for it.
func TestCloseWaitsNotForANodeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSlowFleet(t)
		f.nodes[2].slowReleases = true
		for range 5 {
			lease, err := f.e.Acquire(t.Context(), "job")
			if err != nil {
				t.Fatal(err)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := f.e.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > engine.DefaultNodeTimeout(lock.DefaultMaxTTL) {
			t.Errorf("it took %v", took)
		}
	})
}
