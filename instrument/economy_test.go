package instrument_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// counts are the numbers of spans by name, and of traces.
func (s *spans) counts() (byName map[string]int, all, traces int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	byName, ids := make(map[string]int), make(map[trace.TraceID]bool)
	for _, span := range s.all {
		byName[span.name]++
		ids[span.SpanContext().TraceID()] = true
	}
	return byName, len(s.all), len(ids)
}

// TestSpansOfAPair: an uncontended acquire and release on five nodes make seven spans, or twelve with one for each release.
func TestSpansOfAPair(t *testing.T) { synctest.Test(t, testSpansOfAPair) }

func testSpansOfAPair(t *testing.T) {
	for name, c := range map[string]struct {
		opt  instrument.Option
		want int
	}{
		"votes": {instrument.WithNodeSpans(instrument.NodeSpansVotes), 7},
		"all":   {instrument.WithNodeSpans(instrument.NodeSpansAll), 12},
		"none":  {instrument.WithNodeSpans(instrument.NodeSpansNone), 2},
		"slow":  {instrument.WithSlowNode(time.Nanosecond), 12}, // each release counts as slow
	} {
		s := new(spans)
		l := wrap(t, locktest.NewFakes(t, 5)(t), instrument.WithTracerProvider(s.provider()), c.opt)
		must(t, lock.Do(t.Context(), l, "order:1001", func(context.Context, lock.Lease) error { return nil }))
		time.Sleep(time.Second) // in the bubble's time, until the last nodes have answered
		if byName, all, traces := s.counts(); all != c.want || traces != 1 {
			t.Errorf("%s: %d spans in %d traces, want %d in one: %v", name, all, traces, c.want, byName)
		}
	}
}

// TestSpansOfALongLease: renewals are in the trace of the acquire, one span each.
func TestSpansOfALongLease(t *testing.T) { synctest.Test(t, testSpansOfALongLease) }

func testSpansOfALongLease(t *testing.T) {
	s := new(spans)
	latest := engine.WithRandom(func(int64) int64 { return 0 }) // none is under way at the end
	l := wrap(t, locktest.NewFakes(t, 5, latest)(t), instrument.WithTracerProvider(s.provider()))
	must(t, lock.Do(t.Context(), l, "order:1001", func(context.Context, lock.Lease) error {
		time.Sleep(10 * time.Second)
		return nil
	}))
	time.Sleep(time.Second)
	if byName, all, traces := s.counts(); byName["lock.extend"] < 2 || byName["lock.extend"] > 3 ||
		all != 1+5+byName["lock.extend"]+1 || traces != 1 {
		t.Errorf("%d spans in %d traces: %v", all, traces, byName)
	}
	acquire := s.named("lock.acquire")[0].SpanContext()
	for _, extend := range s.named("lock.extend") {
		if extend.parent.SpanID() != acquire.SpanID() {
			t.Error("a renewal is no child of the span that acquired")
		}
		wantAttrs(t, extend, "distributed_lock.resource=order:1001", "distributed_lock.outcome=ok")
	}
}

// quietly drops roots of one resource, which it can know only from attributes at the start.
func quietly(root []attribute.KeyValue) bool {
	return slices.Contains(root, attribute.String("distributed_lock.resource", "quiet"))
}

// TestSamplers see the resource, and their decision holds for all child spans.
func TestSamplers(t *testing.T) { synctest.Test(t, testSamplers) }

func testSamplers(t *testing.T) {
	roots := 0
	for name, drop := range map[string]func([]attribute.KeyValue) bool{
		"by resource": quietly, "every second": func([]attribute.KeyValue) bool { roots++; return roots%2 == 1 },
	} {
		s := new(spans)
		l := wrap(t, locktest.NewFakes(t, 3)(t), instrument.WithTracerProvider(&provider{into: s, drop: drop}))
		for _, resource := range []string{"quiet", "loud"} {
			lease, err := l.Acquire(t.Context(), resource, lock.TTL(3*time.Second))
			must(t, err)
			must(t, lease.Extend(t.Context()))
			time.Sleep(10 * time.Second)
			must(t, lease.Release(t.Context()))
		}
		time.Sleep(time.Second)
		_, all, traces := s.counts()
		const others = 1 + 3 + 1 + 1 // the acquire, its votes, the extend and the release; ten seconds have 9 to 13 renewals
		if traces != 1 || all < others+9 || all > others+13 {
			t.Errorf("%s: %d spans in %d traces: %s", name, all, traces, s.text())
		}
		for _, span := range s.named("lock.acquire") {
			wantAttrs(t, span, "distributed_lock.resource=loud")
		}
	}
}

// TestNoLinksToWhatNobodyRecorded: no link to an acquire or a holder that was not sampled.
func TestNoLinksToWhatNobodyRecorded(t *testing.T) {
	synctest.Test(t, testNoLinksToWhatNobodyRecorded)
}

func testNoLinksToWhatNobodyRecorded(t *testing.T) {
	s := new(spans)
	fakes := locktest.NewFakes(t, 3)
	a, b := wrap(t, fakes(t), instrument.WithTracerProvider(&provider{into: s, drop: quietly})),
		wrap(t, fakes(t), instrument.WithTracerProvider(s.provider()))
	lease, err := a.Acquire(t.Context(), "quiet")
	must(t, err)
	_, _ = b.Acquire(t.Context(), "quiet", lock.NoWait())
	ctx, root := s.provider().Tracer("test").Start(t.Context(), "caller")
	must(t, lease.Release(ctx))
	root.End()
	synctest.Wait()
	for _, name := range []string{"lock.acquire", "lock.release"} {
		for _, span := range s.named(name) {
			if len(span.links) > 0 {
				t.Errorf("%s links to %v", name, span.links)
			}
		}
	}
}

// TestWaitsAreSpans, one for each wait, with its kind and, if there is one, the holder.
func TestWaitsAreSpans(t *testing.T) { synctest.Test(t, testWaitsAreSpans) }

func testWaitsAreSpans(t *testing.T) {
	s := new(spans)
	fakes := locktest.NewFakes(t, 3, lock.WithInstance("billing/7"))
	l := wrap(t, fakes(t), instrument.WithTracerProvider(s.provider()))
	holder, err := fakes(t).Acquire(t.Context(), "job")
	must(t, err)
	done := make(chan error, 2)
	for range 2 { // one waits for the holder, the other one for the first
		go func() {
			done <- lock.Do(t.Context(), l, "job", func(context.Context, lock.Lease) error { return nil })
		}()
		time.Sleep(100 * time.Millisecond)
	}
	must(t, holder.Release(t.Context()))
	must(t, <-done)
	must(t, <-done)
	kinds := make(map[string]int)
	parents := make(map[trace.SpanID]bool)
	for _, span := range s.named("lock.acquire") {
		parents[span.SpanContext().SpanID()] = true
	}
	for _, span := range s.named("lock.wait") {
		kinds[attrs(span)["distributed_lock.wait.kind"]]++
		wantAttrs(t, span, "distributed_lock.resource=job", "distributed_lock.blocker.instance=billing/7")
		if !parents[span.parent.SpanID()] || span.status != codes.Unset {
			t.Errorf("lock.wait has parent %v and status %v", span.parent.SpanID(), span.status)
		}
	}
	if kinds["holder"] == 0 || kinds["local"] != 1 {
		t.Errorf("waits: %v", kinds)
	}
}

// TestNamespace: spans of nodes have the database number, if there is one.
func TestNamespace(t *testing.T) {
	for want, dbs := range map[string][]int{"0": {0, 0}, "3": {3, 3}, "": {0, 3}} {
		s := new(spans)
		var clients []redis.UniversalClient
		for i, server := range locktest.Servers(t, len(dbs)) {
			c := redis.NewClient(&redis.Options{Addr: server.Addr(), DB: dbs[i]})
			defer c.Close()
			clients = append(clients, c)
		}
		engine, err := redlock.New(clients)
		must(t, err)
		defer engine.Close()
		use(t, wrap(t, engine, instrument.WithTracerProvider(s.provider())), "job")
		wantAttrs(t, s.named("EVALSHA lock.acquire")[0], "db.namespace="+want)
	}
}

// lame returns three fake servers, some of which a test may stop, and a decorator on them.
func lame(t *testing.T, s *spans) ([]*locktest.FakeServer, *instrument.Locker) {
	var servers []*locktest.FakeServer
	var nodes []driver.Node
	for i := range 3 {
		f := locktest.NewFakeServer(fmt.Sprintf("redis%d:6380", i))
		t.Cleanup(f.Close)
		servers, nodes = append(servers, f), append(nodes, engine.Async(f.Connect(uint64(i), locktest.Faults{})))
	}
	r, err := engine.NewEngine(nodes)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return servers, wrap(t, r, instrument.WithTracerProvider(s.provider()))
}

// TestWaitForNodes is a span of that kind.
func TestWaitForNodes(t *testing.T) { synctest.Test(t, testWaitForNodes) }

func testWaitForNodes(t *testing.T) {
	s := new(spans)
	servers, l := lame(t, s)
	servers[0].Crash()
	servers[1].Crash()
	_, _ = l.Acquire(t.Context(), "job", lock.MaxAttempts(2))
	synctest.Wait()
	waits := s.named("lock.wait")
	if len(waits) != 1 {
		t.Fatalf("%d waits: %s", len(waits), s.text())
	}
	wantAttrs(t, waits[0], "distributed_lock.wait.kind=backing_off", "distributed_lock.blocker.instance=")
}

// TestNodesThatFailAreSeen: once for each release that a node does not answer, however often the request is repeated.
func TestNodesThatFailAreSeen(t *testing.T) { synctest.Test(t, testNodesThatFailAreSeen) }

func testNodesThatFailAreSeen(t *testing.T) {
	s := new(spans)
	servers, l := lame(t, s)
	const leases = 3
	var held []lock.Lease
	for i := range leases {
		lease, err := l.Acquire(t.Context(), fmt.Sprint("job", i))
		must(t, err)
		held = append(held, lease)
	}
	synctest.Wait()
	servers[0].Crash()
	for _, lease := range held {
		must(t, lease.Extend(t.Context()))
		must(t, lease.Release(t.Context()))
	}
	time.Sleep(10 * time.Second) // releases are repeated meanwhile
	for _, name := range []string{"EVALSHA lock.extend", "EVALSHA lock.release"} {
		seen := s.named(name)
		if len(seen) != leases {
			t.Errorf("%d spans %s, want %d", len(seen), name, leases)
		}
		for _, span := range seen {
			wantAttrs(t, span, "server.address=redis0")
			if span.status != codes.Error {
				t.Errorf("%s has status %v", name, span.status)
			}
		}
	}
}
