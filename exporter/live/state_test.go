package live_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const traceparent1 = "00-00000000000000000000000000000001-0000000000000001-01"

// TestQueues: callers of two processes queue behind one lease. Each of them knows for whom it waits, also if no node
// told it.
func TestQueues(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		here, a := process(t, servers, "a/1")
		there, b := process(t, servers, "b/2")
		holder, err := a.Acquire(inTrace(locktrace.WithTraceparent(t.Context(), traceparent1), 1), "job")
		must(t, err)
		settle(time.Second)
		var waiting []<-chan acquisition
		for i, l := range []lock.Locker{b, b, b, a, a} {
			waiting = append(waiting, acquireAsync(inTrace(t.Context(), byte(i+2)), l, "job"))
			settle(time.Second)
		}

		s := stateOf(there)
		if len(s.Held) != 0 || len(s.Waiting) != 3 {
			t.Fatalf("elsewhere: %+v", s)
		}
		for i, w := range s.Waiting {
			want := state.Waiter{Resource: "job", Backend: "redis", Instance: "b/2", Kind: "local", Class: "holder", Ahead: i,
				Blocker: w.Blocker}
			if i == 0 {
				want.Kind, want.Attempts = "holder", w.Attempts
			}
			want.For, want.TraceID = float64(5-i), "0000000000000000000000000000000"+string(rune('2'+i))
			if !reflect.DeepEqual(w, want) || i == 0 && w.Attempts < 2 {
				t.Errorf("waiter %d is %+v, want %+v", i, w, want)
			}
			wantBlocker(t, w.Blocker, state.Blocker{Holder: "a/1", TraceID: "00000000000000000000000000000001"}, 6)
		}

		s = stateOf(here)
		if len(s.Held) != 1 || len(s.Waiting) != 2 {
			t.Fatalf("here: %+v", s)
		}
		if h := s.Held[0]; h.Resource != "job" || h.Holder != "a/1" || h.Fence != holder.Fence() || h.Extends != 2 ||
			h.Nodes != 3 || h.TraceID != "00000000000000000000000000000001" || !near(h.Age, 6) ||
			!near(*h.Validity, holder.Remaining().Seconds()) {
			t.Errorf("held: %+v", h)
		}
		for i, w := range s.Waiting {
			wantBlocker(t, w.Blocker, state.Blocker{Holder: "a/1", Here: true, Fence: holder.Fence(),
				TraceID: "00000000000000000000000000000001"}, 6)
			if kind := []string{"holder", "local"}[i]; w.Kind != kind {
				t.Errorf("waiter %d here: %+v, want kind %s", i, w, kind)
			}
		}

		must(t, holder.Release(t.Context()))
		settle(time.Second) // until the waiters here have polled again
		next := <-waiting[0]
		must(t, next.err)
		for _, w := range stateOf(there).Waiting {
			if w.Blocker == nil || !w.Blocker.Here || w.Blocker.Holder != "b/2" {
				t.Errorf("a waiter behind a lease of its own process: %+v, blocker %+v", w, w.Blocker)
			}
		}
		for _, w := range stateOf(here).Waiting {
			if w.Blocker == nil || w.Blocker.Here || w.Blocker.Holder != "b/2" {
				t.Errorf("a waiter behind a lease elsewhere: %+v, blocker %+v", w, w.Blocker)
			}
		}
		must(t, next.lease.Release(t.Context()))
		for range waiting[1:] {
			got := firstOf(waiting[1], waiting[2], waiting[3], waiting[4])
			must(t, got.err)
			must(t, got.lease.Release(t.Context()))
		}
	})
}

func firstOf(a, b, c, d <-chan acquisition) acquisition {
	select {
	case x := <-a:
		return x
	case x := <-b:
		return x
	case x := <-c:
		return x
	case x := <-d:
		return x
	}
}

// near allows for the milliseconds that nodes take.
func near(got, want float64) bool { return got > want-.05 && got < want+.05 }

func wantBlocker(t *testing.T, got *state.Blocker, want state.Blocker, age float64) {
	t.Helper()
	if got == nil {
		t.Errorf("no blocker, want %+v", want)
		return
	}
	if got.Age == nil || !near(*got.Age, age) || got.Remaining == nil || *got.Remaining <= 0 || *got.Remaining > 10 {
		t.Errorf("blocker of age %v and validity %v, want age %v", *got.Age, *got.Remaining, age)
	}
	want.Age, want.Remaining = got.Age, got.Remaining
	if *got != want {
		t.Errorf("blocker %+v, want %+v", *got, want)
	}
}

// TestSharedBoard has two lockers on one Board, as of two pools of connections. A call that waits behind the other
// locker waits for this process.
func TestSharedBoard(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, a := process(t, servers, "a/1")
		b := wrap(t, board, newRedlock(t, servers, "a/1"))
		holder := acquire(t, a, "job")
		ctx, cancel := context.WithCancel(t.Context())
		first, second := acquireAsync(ctx, b, "job"), acquireAsync(ctx, b, "job")
		settle(time.Second)
		want := func(kinds ...string) {
			t.Helper()
			s := stateOf(board)
			if len(s.Waiting) != 2 {
				t.Fatalf("waiting: %+v", s.Waiting)
			}
			for _, w := range s.Waiting {
				told := w.Kind == kinds[0] || w.Kind == "local"
				if blocked := w.Blocker != nil && w.Blocker.Here && w.Blocker.Holder == "a/1"; !told ||
					blocked != (w.Kind != "backing_off") {
					t.Errorf("waiter: %+v, blocker %+v", w, w.Blocker)
				}
			}
		}
		want("holder")
		servers[0].Crash()
		servers[1].Crash()
		settle(5 * time.Second)
		want("backing_off") // the waiter in front no longer knows it, but the Board does
		cancel()
		<-first
		<-second
		servers[0].Restart()
		servers[1].Restart()
		_ = holder.Release(t.Context())
	})
}

// TestBackoff takes the quorum away from a waiter.
func TestBackoff(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, l := process(t, servers, "a/1")
		servers[0].Crash()
		servers[1].Crash()
		ctx, cancel := context.WithCancel(t.Context())
		waiting := acquireAsync(ctx, l, "job")
		settle(3 * time.Second)
		w := stateOf(board).Waiting[0]
		if w.Kind != "backing_off" || w.Blocker != nil || w.Attempts < 3 || w.Error == "" {
			t.Errorf("waiter without a quorum: %+v", w)
		}
		cancel()
		if got := <-waiting; !errors.Is(got.err, lock.ErrNoQuorum) {
			t.Error(got.err)
		}
		s := stateOf(board)
		if len(s.Waiting) != 0 || len(s.Slowest) != 1 || s.Slowest[0].Outcome != string(lock.ReasonCanceled) ||
			s.Slowest[0].Error == "" {
			t.Errorf("after giving up: %+v", s)
		}
		for _, step := range s.Slowest[0].Steps { // calls to nodes are steps of their own
			if step.Kind == "attempt" && step.Outcome == "failed" &&
				!strings.Contains(step.Detail, " of 3 agreed, 0 refused, ") {
				t.Errorf("attempt without a quorum: %+v", step)
			}
		}
		if len(s.Waits) != 1 || s.Waits[0].Failed != 1 || !near(s.Waits[0].P99, 3) {
			t.Errorf("a wait that failed is counted as %+v", s.Waits)
		}
		servers[0].Restart()
		servers[1].Restart()
	})
}

// TestOmitted shows the oldest waiters, and counts the rest.
func TestOmitted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t, live.WithMaxShown(3))
		l := wrap(t, board, &noop{})
		var leases []lock.Lease
		for i := range 100 {
			leases = append(leases, acquire(t, l, resourceName(i)))
			time.Sleep(time.Millisecond)
		}
		s := stateOf(board)
		if len(s.Held) != 3 || s.Omitted.Held != 97 || s.Held[0].Resource != "order:0" ||
			s.Held[2].Resource != "order:2" {
			t.Errorf("100 leases: %+v, omitted %+v", s.Held, s.Omitted)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s := board.State(ctx); len(s.Held) != 0 || s.Omitted.Held != 100 {
			t.Errorf("in a context that has ended: %+v", s)
		}
		for _, lease := range leases {
			must(t, lease.Release(t.Context()))
		}
		if s := stateOf(board); len(s.Held)+s.Omitted.Held != 0 {
			t.Errorf("after 100 releases: %+v", s)
		}
	})
}

// TestContendedOnRedis is a small TestQueues on real servers.
func TestContendedOnRedis(t *testing.T) {
	servers := locktest.Servers(t, 3)
	here, there := newBoard(t, live.WithInstance("a/1")), newBoard(t, live.WithInstance("b/2"))
	a := wrap(t, here, onRedis(t, servers, lock.WithInstance("a/1"), lock.WithNodeTimeout(2*time.Second)))
	b := wrap(t, there, onRedis(t, servers, lock.WithInstance("b/2"), lock.WithNodeTimeout(2*time.Second)))
	holder := acquire(t, a, "job", lock.TTL(30*time.Second))
	first := acquireAsync(t.Context(), b, "job", lock.TTL(30*time.Second))
	blocked := func(b *live.Board, n int, by string, here bool) func() bool {
		return func() bool {
			s := stateOf(b)
			for _, w := range s.Waiting {
				if w.Blocker == nil || w.Blocker.Holder != by || w.Blocker.Here != here || w.Blocker.Remaining == nil {
					return false
				}
			}
			return len(s.Waiting) == n
		}
	}
	eventually(t, "b waits for a", blocked(there, 1, "a/1", false))
	second := acquireAsync(t.Context(), b, "job", lock.TTL(30*time.Second))
	eventually(t, "b's second caller waits for a too", blocked(there, 2, "a/1", false))
	eventually(t, "three nodes know the lock",
		func() bool { s := stateOf(here); return len(s.Held) == 1 && s.Held[0].Nodes == 3 })
	must(t, holder.Release(t.Context()))
	got := <-first
	must(t, got.err)
	eventually(t, "b's second caller waits for b", blocked(there, 1, "b/2", true))
	must(t, got.lease.Release(t.Context()))
	got = <-second
	must(t, got.err)
	must(t, got.lease.Release(t.Context()))
	eventually(t, "three nodes have answered", func() bool { return len(stateOf(there).Nodes) == 3 }) // two are a quorum
	s := stateOf(there)
	// The second caller may have taken longer, and got the lock without asking a node.
	asked := slices.ContainsFunc(s.Slowest, func(a state.Acquisition) bool { return len(a.Steps) >= 3 })
	if len(s.Slowest) != 2 || !asked {
		t.Errorf("nodes %+v, slowest %+v", s.Nodes, s.Slowest)
	}
	for _, n := range s.Nodes {
		if !n.Up || n.Failures != 0 || n.Calls == 0 || n.P99 <= 0 {
			t.Errorf("a node that was refused for a while: %+v", n)
		}
	}
}

// TestManyNames holds a hundred thousand resources at once, and releases them.
func TestManyNames(t *testing.T) {
	board := newBoard(t)
	l := wrap(t, board, &noop{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	round := func() {
		leases := make([]lock.Lease, 100_000)
		for i := range leases {
			lease, err := l.Acquire(ctx, resourceName(i))
			must(t, err)
			leases[i] = lease
		}
		if s := stateOf(board); len(s.Held) != live.DefaultMaxShown ||
			s.Omitted.Held != len(leases)-live.DefaultMaxShown {
			t.Fatalf("%d held, %d omitted", len(s.Held), s.Omitted.Held)
		}
		for _, lease := range leases {
			must(t, lease.Release(ctx))
		}
	}
	round() // allocations that happen once
	before := heap()
	round()
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("%d bytes are left of 100,000 released locks", grown)
	}
	if s := stateOf(board); len(s.Held)+s.Omitted.Held != 0 {
		t.Errorf("still held: %+v", s.Held)
	}
	runtime.KeepAlive(board)
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // frees the pools of the first round
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
