package live_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
)

// TestWaitPoints has a point for every second in which an Acquire finished.
func TestWaitPoints(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t, live.WithWindow(10*time.Second))
		ms := time.Millisecond
		l := wrap(t, board, &slow{times: []time.Duration{100 * ms, 200 * ms, 300 * ms, 500 * ms, 3000 * ms, 0}})
		failing := wrap(t, board, &noop{err: lock.ErrNoQuorum})
		busy := wrap(t, board, &noop{err: lock.ErrHeld})
		for range 3 {
			must(t, acquire(t, l, "x").Release(t.Context()))
		}
		_, _ = failing.Acquire(t.Context(), "x")
		_, _ = busy.Acquire(t.Context(), "x", lock.NoWait()) // refused, which is no failure
		_, _ = busy.Acquire(t.Context(), "x")
		for range 2 { // they end at 1.1 s and at 4.1 s
			must(t, acquire(t, l, "x").Release(t.Context()))
		}
		points := stateOf(board).Waits
		if len(points) != 3 {
			t.Fatalf("points: %+v", points)
		}
		start := points[0].At
		for i, want := range []state.WaitPoint{
			{At: start, Count: 6, Failed: 2, P50: 0, P99: .3},
			{At: start.Add(time.Second), Count: 1, P50: .5, P99: .5},
			{At: start.Add(4 * time.Second), Count: 1, P50: 3, P99: 3},
		} {
			got := points[i]
			if i == 0 {
				want.P50 = got.P50 // the third of three zeros and .1, .2, .3
				if want.P50 > 1e-6 {
					t.Errorf("p50 %v", want.P50)
				}
			}
			if got != want {
				t.Errorf("point %d is %+v, want %+v", i, got, want)
			}
		}
		time.Sleep(8 * time.Second)
		must(t, acquire(t, l, "x").Release(t.Context()))
		points = stateOf(board).Waits
		if len(points) != 2 || !points[0].At.Equal(start.Add(4*time.Second)) {
			t.Errorf("within ten seconds: %+v", points)
		}
		time.Sleep(time.Hour)
		if points := stateOf(board).Waits; len(points) != 0 {
			t.Errorf("an hour later: %+v", points)
		}
	})
}

// TestSlowest has the slowest of the last five minutes, also if slower ones that are now too old had displaced faster
// ones.
func TestSlowest(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t, live.WithSlowest(2))
		run := func(names string, took time.Duration) {
			l := wrap(t, board, &slow{times: []time.Duration{took, took, took, took}})
			for _, name := range names {
				must(t, acquire(t, l, string(name)).Release(t.Context()))
			}
		}
		want := func(names string) {
			t.Helper()
			got := ""
			for _, a := range stateOf(board).Slowest {
				got += a.Resource
			}
			if got != names {
				t.Errorf("slowest are %q, want %q", got, names)
			}
		}
		run("a", 3*time.Second)
		run("b", time.Second)
		run("c", 2*time.Second)
		want("ac")
		settle(2 * time.Minute)
		run("d", 10*time.Millisecond)
		want("ac")
		settle(2 * time.Minute)
		run("e", 30*time.Millisecond)
		want("ac")
		settle(time.Minute)
		want("ed")
		run("fgh", 20*time.Millisecond)
		want("eg") // of equal ones, the first two and the latest are kept
		settle(4 * time.Minute)
		want("gf")
		settle(time.Hour)
		want("")
	})
}

// TestSteps looks at a contended acquisition: attempts, node calls and waits in order, with their results.
func TestSteps(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		_, a := process(t, servers, "a/1")
		board, b := process(t, servers, "b/2")
		holder := acquire(t, a, "job")
		waiting := acquireAsync(inTrace(t.Context(), 7), b, "job")
		settle(50 * time.Millisecond)
		must(t, holder.Release(t.Context()))
		got := <-waiting
		must(t, got.err)
		must(t, got.lease.Release(t.Context()))
		settle(time.Second) // for late answers
		slowest := stateOf(board).Slowest
		if len(slowest) != 1 {
			t.Fatalf("slowest: %+v", slowest)
		}
		acq := slowest[0]
		if acq.Resource != "job" || acq.Outcome != "acquired" || acq.Error != "" || acq.Omitted != 0 ||
			acq.TraceID != "00000000000000000000000000000007" || !near(acq.Took, .055) {
			t.Errorf("acquisition: %+v", acq)
		}
		seen := make(map[string]int)
		last := 0.
		for _, s := range acq.Steps {
			seen[s.Kind+" "+s.Name+" "+s.Outcome]++
			if s.Start < last || s.Took < 0 {
				t.Errorf("step out of order: %+v", s)
			}
			last = s.Start
			if s.Kind == "wait" && s.Detail != "held by a/1" {
				t.Errorf("a wait for nobody: %+v", s)
			}
			if s.Kind == "attempt" && s.Outcome == "refused" && s.Detail != "held by a/1" {
				t.Errorf("refused by nobody: %+v", s)
			}
		}
		for _, want := range []string{
			"attempt attempt 1 refused", "node node1 refused", "node node3 granted", "wait holder woken",
		} {
			if seen[want] == 0 {
				t.Errorf("no step %q in %v", want, seen)
			}
		}
	})
}

// TestHandedOver: the wait of a caller that was handed the lock says so, and no request was made for it.
func TestHandedOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, l := process(t, newServers(t, 3), "a/1")
		holder := acquire(t, l, "job")
		contends := acquireAsync(t.Context(), l, "job")
		settle(time.Millisecond)
		queues := acquireAsync(t.Context(), l, "job")
		settle(time.Second)
		must(t, holder.Release(t.Context()))
		first := <-contends
		must(t, first.err)
		must(t, first.lease.Release(t.Context()))
		second := <-queues
		must(t, second.err)
		must(t, second.lease.Release(t.Context()))
		told := 0
		for _, acq := range stateOf(board).Slowest {
			for _, s := range acq.Steps {
				if s.Outcome == "handed_over" && s.Kind == "wait" && s.Name == "local" && len(acq.Steps) == 1 &&
					acq.Outcome == "acquired" {
					told++
				}
			}
		}
		if told != 1 {
			t.Errorf("%d acquisitions were handed over: %+v", told, stateOf(board).Slowest)
		}
	})
}

// TestStragglers: a node answers after the others have granted the lock.
func TestStragglers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, l := process(t, servers, "a/1")
		must(t, acquire(t, l, "warm up").Release(t.Context()))
		settle(time.Minute)
		servers[2].Pause()
		lease := acquire(t, l, "job")
		if steps := stateOf(board).Slowest[0].Steps; len(steps) != 3 {
			t.Errorf("before it answered: %+v", steps)
		}
		settle(time.Second) // it does not answer in time
		servers[2].Resume()
		var job state.Acquisition
		for _, a := range stateOf(board).Slowest {
			if a.Resource == "job" {
				job = a
			}
		}
		if len(job.Steps) != 4 || job.Took > job.Steps[3].Start+job.Steps[3].Took || job.Steps[3].Outcome != "failed" ||
			job.Steps[3].Name != "node3" || job.Steps[3].Detail == "" {
			t.Errorf("afterwards: %+v", job)
		}
		must(t, lease.Release(t.Context()))
	})
}

// TestManySteps waits so long that not all steps are kept.
func TestManySteps(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		_, a := process(t, servers, "a/1")
		board, b := process(t, servers, "b/2")
		holder := acquire(t, a, "job")
		_, err := b.Acquire(t.Context(), "job", lock.MaxWait(2*time.Minute))
		if lock.ReasonOf(err) != lock.ReasonTimeout {
			t.Fatal(err)
		}
		acq := stateOf(board).Slowest[0]
		if len(acq.Steps) != state.MaxSteps || acq.Omitted == 0 || acq.Outcome != string(lock.ReasonTimeout) {
			t.Errorf("%d steps, %d omitted, %s", len(acq.Steps), acq.Omitted, acq.Outcome)
		}
		first, last := acq.Steps[0], acq.Steps[state.MaxSteps-1]
		if first.Start != 0 || last.Start+last.Took < 119 || last.Outcome != string(lock.ReasonTimeout) {
			t.Errorf("from %+v to %+v", first, last)
		}
		must(t, holder.Release(t.Context()))
	})
}

// TestNodesInOrder: nodes are listed by name, whichever answered first.
func TestNodesInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		slices.Reverse(servers)
		board, l := process(t, servers, "a/1")
		must(t, acquire(t, l, "job").Release(t.Context()))
		settle(time.Second)
		names := ""
		for _, n := range stateOf(board).Nodes {
			names += n.Name + " "
		}
		if names != "node1 node2 node3 " {
			t.Errorf("nodes %s", names)
		}
	})
}

// TestNodeHealth: a refusal is an answer, a crash is none, and both are forgotten after a minute.
func TestNodeHealth(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, l := process(t, servers, "a/1")
		holder := acquire(t, newRedlock(t, servers, "b/2"), "job")
		for range 5 {
			_, _ = l.Acquire(t.Context(), "job", lock.NoWait())
		}
		nodes := stateOf(board).Nodes
		if len(nodes) != 3 {
			t.Fatalf("nodes: %+v", nodes)
		}
		for i, n := range nodes {
			took := float64(i+1) * .002
			if !n.Up || n.Calls < 3 || n.Failures != 0 || n.Error != "" || n.P50 < took*.93 || n.P99 > took*1.07 ||
				*n.Quiet > .02 {
				t.Errorf("node that refuses: %+v", n)
			}
		}
		settle(10 * time.Second)
		servers[0].Crash()
		must(t, acquire(t, l, "other").Release(t.Context()))
		settle(time.Second)
		n := stateOf(board).Nodes[0]
		if n.Up || n.Failures == 0 || n.Error == "" || n.Quiet == nil || !near(*n.Quiet, 11) {
			t.Errorf("node that crashed: %+v", n)
		}
		settle(10 * time.Minute) // no release is repeated any more
		n = stateOf(board).Nodes[0]
		if n.State != state.NodeUnknown || n.Calls != 0 || n.Failures != 0 || n.Error != "" || n.P99 != 0 || *n.Asked < 400 {
			t.Errorf("minutes later: %+v", n)
		}
		if s := stateOf(board).Sets[0]; s.NoQuorum || len(s.Unknown) != 3 || s.Voting != 0 {
			t.Errorf("minutes later: %+v", s)
		}
		servers[0].Restart()
		must(t, lock.Do(t.Context(), l, "third", func(context.Context, lock.Lease) error { return nil }))
		settle(time.Second)
		if n = stateOf(board).Nodes[0]; !n.Up {
			t.Errorf("node that came back: %+v", n)
		}
		must(t, holder.Release(t.Context()))
	})
}
