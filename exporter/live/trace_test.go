package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// notRecorded is what WriteTrace says of a resource without a timeline.
func notRecorded(t *testing.T, b *live.Board, resource, backend string) *live.NotRecordedError {
	t.Helper()
	var out strings.Builder
	err := b.WriteTrace(t.Context(), &out, resource, backend)
	missing, ok := errors.AsType[*live.NotRecordedError](err)
	if !ok || out.Len() > 0 {
		t.Fatalf("%q on %q: %v, and %d bytes are written", resource, backend, err, out.Len())
	}
	return missing
}

// TestTraceOfContention has two lockers of one process and one of another process take turns.
func TestTraceOfContention(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, a := process(t, servers, "orders/1")
		b := wrap(t, board, newRedlock(t, servers, "stock/2"), live.WithLockerInstance("stock/2"))
		elsewhere := newRedlock(t, servers, "billing/3")

		first := acquire(t, elsewhere, "job")
		second := acquireAsync(t.Context(), a, "job")
		settle(time.Second)
		third := acquireAsync(t.Context(), b, "job")
		settle(time.Second)
		must(t, first.Release(t.Context()))
		got := <-second
		must(t, got.err)
		settle(8 * time.Second) // of renewals
		must(t, got.lease.Release(t.Context()))
		last := <-third
		must(t, last.err)
		settle(time.Second)

		tr := traceOf(t, board, "job", "")
		arrows := tr.arrows()
		want := []arrow{
			{"job (redis): billing/3", "job (redis): orders/1", "the release named this waiter"},
			{"job (redis): orders/1", "job (redis): stock/2", "the release named this waiter"},
		}
		if !slices.Equal(arrows, want) {
			t.Errorf("arrows %+v, want %+v", arrows, want)
		}
		leases := tr.of("lease", "holds")
		if len(leases) != 3 || leases[0].Args["known_from"] != "refusals" || arg(leases[1], "ended") != "released" ||
			arg(leases[1], "fence") != fmt.Sprint(got.lease.Fence()) || leases[2].Args["unfinished"] != true {
			t.Errorf("leases: %+v", leases)
		}
		if took := time.Duration(leases[0].Took); took < 1900*time.Millisecond || took > 2100*time.Millisecond {
			t.Errorf("the lease of another process took %v", took)
		}
		if n := len(tr.of("renewal", "renewal: renewed")); n < 2 {
			t.Errorf("%d renewals", n)
		}
		waits := tr.of("wait", "wait behind")
		if len(waits) < 2 || arg(waits[0], "holder") != "billing/3" || arg(waits[0], "class") != "holder" {
			t.Errorf("waits: %+v", waits)
		}
		if votes := tr.of("vote", "acquire: "); len(votes) < 4*3 || tr.thread[votes[0].Tid] != "node3" {
			t.Errorf("%d votes, the slowest of the first on %q", len(votes), tr.thread[votes[0].Tid])
		}
		must(t, last.lease.Release(t.Context()))
	})
}

// TestTraceOfAHandOver: a caller of the same process gets the lock without asking a node.
func TestTraceOfAHandOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, l := process(t, servers, "orders/1")
		elsewhere := acquire(t, newRedlock(t, servers, "billing/3"), "job")
		first := acquireAsync(t.Context(), l, "job")
		settle(time.Second)
		second := acquireAsync(t.Context(), l, "job")
		settle(time.Second)
		must(t, elsewhere.Release(t.Context()))
		for _, next := range []<-chan acquisition{first, second} {
			got := <-next
			must(t, got.err)
			time.Sleep(time.Millisecond)
			must(t, got.lease.Release(t.Context()))
		}
		tr := traceOf(t, board, "job", "")
		const process = "job (redis): orders/1"
		if a := tr.arrows(); len(a) != 2 || a[1] != (arrow{process, process, "handed over inside the process"}) {
			t.Errorf("arrows: %+v", a)
		}
		leases := tr.of("lease", "")
		if len(leases) != 3 || leases[1].End() > leases[2].At || tr.thread[leases[1].Tid] != "leases" ||
			leases[2].Tid != leases[1].Tid {
			t.Errorf("leases: %+v", leases)
		}
	})
}

// TestTraceOfLosses has leases end in every way there is.
func TestTraceOfLosses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		board := newBoard(t, live.WithInstance("orders/1"))
		a, b := newMemory(t, board, nodes, "orders/1"), newMemory(t, board, nodes, "stock/2")
		parent, cancel := context.WithCancel(t.Context())
		for _, c := range []struct {
			ctx  context.Context
			opts []lock.AcquireOption
			end  func()
		}{
			{t.Context(), []lock.AcquireOption{lock.NoRenew(), lock.TTL(time.Second)}, func() {}},
			{t.Context(), []lock.AcquireOption{lock.MaxHold(time.Second)}, func() {}},
			{parent, nil, cancel},
		} {
			held, err := a.Acquire(c.ctx, "job", c.opts...)
			must(t, err)
			next := acquireAsync(t.Context(), b, "job")
			settle(500 * time.Millisecond)
			c.end()
			got := <-next
			must(t, got.err)
			_ = held.Release(t.Context())
			settle(time.Millisecond)
			must(t, got.lease.Release(t.Context()))
			settle(time.Millisecond) // a release that has not reached all nodes makes the next call wait
		}
		tr := traceOf(t, board, "job", "")
		var ends []string
		for _, e := range tr.of("lease", "holds") {
			ends = append(ends, arg(e, "ended"))
		}
		want := []string{"lost", "released", "max hold", "released", "canceled", "released"}
		if !slices.Equal(ends, want) {
			t.Errorf("leases ended: %q, want %q", ends, want)
		}
		if n := len(tr.of("lease", "lease ended: ")); n != 3 {
			t.Errorf("%d instants of losses", n)
		}
		if a := tr.arrows(); len(a) != 3 || a[0].how != "the lease before ended without a release and ran out" {
			t.Errorf("arrows: %+v", a)
		}
	})
}

// TestTraceWithoutQuorum: waits say their class, and nodes that hang have long votes that failed.
func TestTraceWithoutQuorum(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		board := newBoard(t)
		l := newMemory(t, board, nodes, "orders/1")
		nodes[0].Freeze()
		nodes[1].Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		waiting := acquireAsync(ctx, l, "job")
		settle(10 * time.Second)
		tr := traceOf(t, board, "job", "")
		if calls := tr.of("call", "acquire (unfinished)"); len(calls) != 1 || calls[0].Took != int64(10*time.Second) {
			t.Errorf("calls: %+v", calls)
		}
		if waits := tr.of("wait", "wait: no quorum"); len(waits) == 0 {
			t.Error("no wait without a quorum")
		}
		failed := tr.of("vote", "acquire: failed")
		if len(failed) == 0 || failed[0].Took < int64(100*time.Millisecond) || arg(failed[0], "error") == "" {
			t.Errorf("failed votes: %+v", failed)
		}
		if got := <-waiting; got.err == nil {
			t.Error("two of three nodes are frozen")
		}
		settle(time.Minute)
		tr = traceOf(t, board, "job", "")
		if calls := tr.of("call", "acquire: timeout"); len(calls) != 1 || arg(calls[0], "error") == "" {
			t.Errorf("calls: %+v", calls)
		}
		nodes.Recover()
		settle(time.Minute)
	})
}

// TestTraceOfTwoBackends: a resource of one name on two sets of nodes is two resources.
func TestTraceOfTwoBackends(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		for _, backend := range []string{"east", "west"} {
			engine, err := memlock.New(memlock.NewNodes(1), lock.WithBackend(backend), lock.WithInstance("orders/1"))
			must(t, err)
			t.Cleanup(func() { must(t, engine.Close()) })
			l := wrap(t, board, engine, live.WithLockerInstance("orders/1"))
			held := acquire(t, l, "job")
			_, err = l.Acquire(t.Context(), "job", lock.MaxWait(time.Second))
			if !errors.Is(err, lock.ErrMaxWait) {
				t.Fatal(err)
			}
			must(t, held.Release(t.Context()))
		}
		for backend, want := range map[string][]string{
			"":     {"job (west): orders/1", "job (west): nodes", "job (east): orders/1", "job (east): nodes"},
			"east": {"job (east): orders/1", "job (east): nodes"},
		} {
			tr := traceOf(t, board, "job", backend)
			var names []string
			for pid := range len(tr.process) {
				names = append(names, tr.process[pid+1])
			}
			if !slices.Equal(names, want) {
				t.Errorf("%q: %q, want %q", backend, names, want)
			}
			if n := len(tr.of("lease", "holds")); n != len(want)/2 {
				t.Errorf("%q: %d leases", backend, n)
			}
		}
		if missing := notRecorded(t, board, "job", "north"); len(missing.Recorded) != 2 {
			t.Errorf("recorded: %+v", missing.Recorded)
		}
	})
}

// TestUncontendedIsNotRecorded: only waits make a timeline, and time ends it.
func TestUncontendedIsNotRecorded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, l := process(t, newServers(t, 1), "orders/1")
		must(t, acquire(t, l, "job").Release(t.Context()))
		_, _ = l.Acquire(t.Context(), "job", lock.NoWait())
		if missing := notRecorded(t, board, "job", ""); len(missing.Recorded) != 0 || missing.Limit != 32 {
			t.Errorf("%+v: %v", missing, missing)
		}
	})
}

// TestTimelinesEnd ten minutes after the last wait.
func TestTimelinesEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, l := process(t, newServers(t, 1), "orders/1")
		wait := func(resource string) {
			held := acquire(t, l, resource)
			_, _ = l.Acquire(t.Context(), resource, lock.MaxWait(time.Second))
			must(t, held.Release(t.Context()))
		}
		for i := range 25 {
			wait(resourceName(i))
		}
		missing := notRecorded(t, board, "other", "")
		if len(missing.Recorded) != 20 || missing.More != 5 || missing.Recorded[0].Resource != resourceName(24) {
			t.Errorf("%+v", missing)
		}
		settle(timeline.For - 20*time.Second)
		wait("job")
		if missing := notRecorded(t, board, "other", ""); len(missing.Recorded)+missing.More >= 26 {
			t.Errorf("%+v", missing)
		}
		settle(timeline.For)
		if missing := notRecorded(t, board, "", ""); len(missing.Recorded) != 0 {
			t.Errorf("%+v", missing)
		}
		off := newBoard(t, live.WithTimelines(0))
		_ = wrap(t, off, &noop{})
		if missing := notRecorded(t, off, "", ""); !strings.Contains(missing.Error(), "switched off") {
			t.Error(missing)
		}
	})
}
