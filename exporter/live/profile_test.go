package live_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

func profileOf(t testing.TB, b *live.Board, by live.ProfileBy) *live.Profile {
	t.Helper()
	p, err := b.Profile(by)
	must(t, err)
	return p
}

// sums adds up the samples of a profile by what name makes of each.
func sums(p *live.Profile, name func(live.ProfileSample) string) map[string]time.Duration {
	all := make(map[string]time.Duration)
	for _, s := range p.Samples() {
		all[name(s)] += s.Delay
	}
	return all
}

func byClass(s live.ProfileSample) string { return string(s.Class) }

func count(p *live.Profile) (n int64) {
	for _, s := range p.Samples() {
		n += s.Count
	}
	return n
}

// has reports whether a stack has a function whose name contains a text.
func has(s live.ProfileSample, text string) bool {
	for _, f := range s.Stack {
		if strings.Contains(f.Function, text) {
			return true
		}
	}
	return false
}

func within(got, want, by time.Duration) bool { return got > want-by && got < want+by }

// inMemory is a process on nodes in memory, with call sites, on a Board of its own.
func inMemory(t testing.TB, nodes memlock.Nodes, instance string) (*live.Board, lock.Locker) {
	t.Helper()
	engine, err := memlock.New(nodes, lock.WithInstance(instance), lock.WithCallSites())
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	board := newBoard(t, live.WithInstance(instance))
	return board, wrap(t, board, engine)
}

// TestProfileByWaiter: the stack of a wait, its class and its holder, while it waits and afterwards.
func TestProfileByWaiter(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, l := process(t, servers, "b/2")
		lease := acquire(t, newRedlock(t, servers, "a/1"), "order:7")
		must(t, acquire(t, l, "free").Release(t.Context())) // not a wait
		first, second := acquireAsync(t.Context(), l, "order:7"), make(chan acquisition, 1)
		settle(time.Second)
		before := profileOf(t, board, live.ByWaiter)
		check := func(p *live.Profile, n int64, holder time.Duration) {
			t.Helper()
			if got := sums(p, byClass)["holder"]; !within(got, holder, 300*time.Millisecond) || count(p) != n {
				t.Errorf("%d waits of %v, want %d of %v: %+v", count(p), got, n, holder, p.Samples())
			}
			for _, s := range p.Samples() {
				if s.Resource != "order:7" || s.Backend != "redis" || !has(s, "live_test.acquireAsync") ||
					has(s, "live.(*locker).Acquire") || has(s, "runtime.goexit") {
					t.Errorf("sample %+v", s)
				}
				if s.Class == locktrace.WaitHolder && s.Holder != "a/1" {
					t.Errorf("behind %q", s.Holder)
				}
			}
		}
		check(before, 1, time.Second)
		go func() { second <- <-acquireAsync(t.Context(), l, "order:7") }()
		settle(2 * time.Second)
		check(profileOf(t, board, live.ByWaiter).Since(before), 1, 4*time.Second)
		must(t, lease.Release(t.Context()))
		must(t, (<-first).lease.Release(t.Context()))
		must(t, (<-second).lease.Release(t.Context()))
		after := profileOf(t, board, live.ByWaiter)
		check(after, 2, 5*time.Second)
		settle(time.Minute)
		if left := profileOf(t, board, live.ByWaiter).Since(after).Samples(); len(left) != 0 {
			t.Errorf("nobody waits, but %+v", left)
		}
	})
}

// TestOutageIsInTheProfile: when no node answers, no call returns. The profile has their stacks, also of callers that
// wait behind another one of their process, and blames nobody.
func TestOutageIsInTheProfile(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		board, l := process(t, servers, "b/2")
		lease := acquire(t, newRedlock(t, servers, "a/1"), "order:7", lock.NoRenew())
		for _, s := range servers {
			s.Close()
		}
		settle(time.Minute) // the lease is over
		ctx, cancel := context.WithCancel(t.Context())
		waiting := []<-chan acquisition{acquireAsync(ctx, l, "order:7"), acquireAsync(ctx, l, "order:7"),
			acquireAsync(ctx, l, "job")}
		settle(time.Minute)
		p := profileOf(t, board, live.ByWaiter)
		if got := sums(p, byClass)["no_quorum"]; !within(got, 3*time.Minute, 3*time.Second) || count(p) != 3 {
			t.Errorf("%d calls, %v without a quorum: %+v", count(p), got, p.Samples())
		}
		for _, s := range p.Samples() {
			if !has(s, "live_test.acquireAsync") {
				t.Errorf("a stack without the caller: %+v", s)
			}
		}
		if s := stateOf(board); len(s.Inflicted) != 0 {
			t.Errorf("an outage is blamed on %+v", s.Inflicted)
		}
		for _, s := range profileOf(t, board, live.ByHolder).Samples() {
			if s.Holder != "" || s.Delay > 3*time.Second {
				t.Errorf("an outage is blamed on %+v", s)
			}
		}
		cancel()
		for _, w := range waiting {
			if (<-w).err == nil {
				t.Error("acquired without nodes")
			}
		}
		_ = lease
	})
}

// TestInflicted: two processes hold a lock each. Three calls of a third one wait, one of them behind another, and have
// not returned.
func TestInflicted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		board, l := inMemory(t, nodes, "b/2")
		_, orders := inMemory(t, nodes, "orders/1")
		_, billing := inMemory(t, nodes, "billing/1")
		x, y := acquire(t, orders, "x"), acquire(t, billing, "y")
		waiting := []<-chan acquisition{acquireAsync(t.Context(), l, "x"), acquireAsync(t.Context(), l, "y")}
		settle(10 * time.Second)
		waiting = append(waiting, acquireAsync(t.Context(), l, "x"))
		settle(20 * time.Second)
		for range 2 { // a look changes nothing
			got := stateOf(board).Inflicted
			if len(got) != 2 || got[0].Resource != "x" || got[0].Holder != "orders/1" || got[0].Waits != 2 ||
				math.Abs(got[0].Seconds-50) > 0.05 || got[1].Holder != "billing/1" || got[1].Waits != 1 ||
				math.Abs(got[1].Seconds-30) > 0.05 || got[1].Backend != "memory" ||
				!strings.HasPrefix(got[0].CallSite, "live/helpers_test.go:") {
				t.Errorf("inflicted %+v", got)
			}
		}
		must(t, x.Release(t.Context()))
		must(t, y.Release(t.Context()))
		for _, w := range waiting {
			must(t, (<-w).lease.Release(t.Context()))
		}
		settle(10 * time.Minute)
		if got := stateOf(board).Inflicted; len(got) != 0 {
			t.Errorf("after ten minutes %+v", got)
		}
		for _, s := range profileOf(t, board, live.ByHolder).Samples() {
			if s.Holder == "orders/1" && (s.Count != 2 || !within(s.Delay, 50*time.Second, time.Second) ||
				!strings.HasPrefix(s.Stack[0].Function, "live/helpers_test.go:") || s.Stack[1].Function != "x") {
				t.Errorf("profile %+v", s)
			}
		}
	})
}

// TestInflictedWithinTheProcess has three callers of one process hand a lock to each other, of which one holds it long.
// Each begins to wait while another one holds it than the one that makes it wait longest.
func TestInflictedWithinTheProcess(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, l := inMemory(t, memlock.NewNodes(3), "b/2")
		hold := func(d time.Duration) func(context.Context, lock.Lease) error {
			return func(context.Context, lock.Lease) error { time.Sleep(d); return nil }
		}
		var working sync.WaitGroup
		var long, short string
		const rounds = 40
		for i, work := range []func() error{
			func() error {
				_, _, line, _ := runtime.Caller(0)
				long = fmt.Sprintf("live/profile_test.go:%d", line+2)
				return lock.Do(t.Context(), l, "job", hold(90*time.Millisecond))
			},
			func() error {
				_, _, line, _ := runtime.Caller(0)
				short = fmt.Sprintf("live/profile_test.go:%d", line+2)
				return lock.Do(t.Context(), l, "job", hold(time.Millisecond))
			},
			func() error { return lock.Do(t.Context(), l, "job", hold(2*time.Millisecond)) },
		} {
			time.Sleep(time.Duration(i) * 100 * time.Microsecond)
			working.Go(func() {
				for range rounds {
					must(t, work())
				}
			})
		}
		working.Wait()
		inflicted := make(map[string]state.Inflicted)
		for _, i := range stateOf(board).Inflicted {
			inflicted[i.CallSite] = i
		}
		// Two wait while each of the others holds it, except at the ends.
		if got := inflicted[long]; math.Abs(got.Seconds-2*0.09*rounds) > 0.3 || got.Waits < rounds {
			t.Errorf("inflicted %+v, want %v s by %s", inflicted, 2*0.09*rounds, long)
		}
		if got := inflicted[short]; math.Abs(got.Seconds-2*0.001*rounds) > 0.03 {
			t.Errorf("inflicted %+v, want %v s by %s", inflicted, 2*0.001*rounds, short)
		}
		waited := sums(profileOf(t, board, live.ByWaiter), byClass)
		behind := sums(profileOf(t, board, live.ByHolder), byClass)
		if !within(waited["holder"], behind["holder"], 50*time.Millisecond) {
			t.Errorf("waited %v behind holders, which inflicted %v", waited["holder"], behind["holder"])
		}
	})
}

// keeps is a node that keeps the lock for another waiter until a time.
type keeps struct {
	driver.BlockingNode
	until time.Time
}

func (n keeps) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if left := time.Until(n.until); left > 0 {
		return driver.AcquireReply{Reserved: true, TTL: left}, nil
	}
	return n.BlockingNode.Acquire(ctx, req)
}

// TestHandOverHasARow: nobody holds a lock that is kept for the next waiter, and nobody is blamed for that time.
func TestHandOverHasARow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := locktest.NewFakeServer("node1")
		t.Cleanup(s.Close)
		node := keeps{s.Connect(1, locktest.Faults{}), time.Now().Add(5 * time.Second)}
		engine, err := engine.NewEngine([]driver.Node{engine.Async(node)})
		must(t, err)
		t.Cleanup(func() { must(t, engine.Close()) })
		board := newBoard(t)
		must(t, acquire(t, wrap(t, board, engine), "job").Release(t.Context()))
		got := stateOf(board).Inflicted
		if len(got) != 1 || got[0].Holder != state.HandedOver || math.Abs(got[0].Seconds-5) > .1 || got[0].Waits != 0 {
			t.Errorf("inflicted %+v", got)
		}
		for _, s := range profileOf(t, board, live.ByHolder).Samples() {
			if s.Stack[0].Function != "(being handed over)" || s.Holder != "" {
				t.Errorf("sample %+v", s)
			}
		}
	})
}

// TestThousandWaiters: all of them show, and what they waited is what the holder has inflicted.
func TestThousandWaiters(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, l := inMemory(t, memlock.NewNodes(3), "b/2")
		lease := acquire(t, l, "job")
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() { _, _ = l.Acquire(ctx, "job") })
		}
		settle(10 * time.Second)
		p := profileOf(t, board, live.ByWaiter)
		if got := sums(p, byClass)["holder"]; !within(got, 10_000*time.Second, 10*time.Second) || count(p) != 1000 {
			t.Errorf("%d waits of %v", count(p), got)
		}
		if len(p.Samples()) > 3 {
			t.Errorf("%d samples of one stack", len(p.Samples()))
		}
		cancel()
		all.Wait()
		got := stateOf(board).Inflicted
		if len(got) != 1 || got[0].Waits != 1000 || math.Abs(got[0].Seconds-10_000) > 10 {
			t.Errorf("inflicted %+v", got)
		}
		must(t, lease.Release(t.Context()))
	})
}

// TestLongWaitInTheLastMinutes: of an hour that nobody has looked at, ten minutes count.
func TestLongWaitInTheLastMinutes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		board, l := inMemory(t, nodes, "b/2")
		_, other := inMemory(t, nodes, "orders/1")
		lease := acquire(t, other, "x", lock.MaxHold(2*time.Hour))
		remote := acquireAsync(t.Context(), l, "x")
		settle(time.Second)
		local := acquireAsync(t.Context(), l, "x")
		settle(time.Hour)
		got := stateOf(board).Inflicted
		if len(got) != 1 || got[0].Seconds < 2*540 || got[0].Seconds > 2*600+1 {
			t.Errorf("inflicted %+v", got)
		}
		must(t, lease.Release(t.Context()))
		must(t, (<-remote).lease.Release(t.Context()))
		must(t, (<-local).lease.Release(t.Context()))
	})
}

// TestProfileWithoutHooks: what such a Locker waits for is unknown, and its fast calls are no waits.
func TestProfileWithoutHooks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		l := wrap(t, board, &slow{times: []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second}})
		must(t, acquire(t, l, "x").Release(t.Context()))
		must(t, acquire(t, l, "x").Release(t.Context()))
		p := profileOf(t, board, live.ByWaiter)
		if s := p.Samples(); len(s) != 1 || s[0].Class != "unknown" || s[0].Delay != 200*time.Millisecond ||
			s[0].Count != 1 || !strings.HasSuffix(s[0].Stack[0].Function, "live_test.acquire") {
			t.Errorf("%+v", s)
		}
		waiting := acquireAsync(t.Context(), l, "x")
		settle(500 * time.Millisecond)
		under := profileOf(t, board, live.ByWaiter).Since(p).Samples()
		if len(under) != 1 || !has(under[0], "(call under way)") || under[0].Delay != 500*time.Millisecond {
			t.Errorf("%+v", under)
		}
		must(t, (<-waiting).lease.Release(t.Context()))
		if s := stateOf(board); len(s.Inflicted) != 0 {
			t.Errorf("inflicted %+v", s.Inflicted)
		}
	})
}

// TestProfileRefuses says what is not there.
func TestProfileRefuses(t *testing.T) {
	off := newBoard(t, live.WithProfileRate(0))
	if _, err := off.Profile(live.ByWaiter); !errors.Is(err, live.ErrProfileOff) ||
		!strings.Contains(err.Error(), "WithProfileRate") {
		t.Error(err)
	}
	if _, err := off.Profile(live.ByHolder); err != nil {
		t.Error(err)
	}
	if _, err := off.Profile("stack"); !errors.Is(err, live.ErrInvalidOption) {
		t.Error(err)
	}
}
