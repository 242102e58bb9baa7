package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	noopTrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
)

func TestSpans(t *testing.T) { synctest.Test(t, testSpans) }

func testSpans(t *testing.T) {
	s := new(spans)
	p := s.provider()
	l := wrap(t, locktest.NewFakes(t, 3)(t), instrument.WithTracerProvider(p))
	ctx, root := p.Tracer("test").Start(t.Context(), "caller")
	lease, err := l.Acquire(ctx, "order:1001", lock.TTL(300*time.Millisecond))
	must(t, err)
	if got := trace.SpanContextFromContext(lease.Context()); !got.Equal(root.SpanContext()) {
		t.Errorf("the lease's context has span %v, want the caller's", got.SpanID())
	}
	must(t, lease.Extend(ctx))
	eventually(t, "a renewal", func() bool { return len(s.named("lock.extend")) >= 2 })
	must(t, lease.Release(ctx))
	eventually(t, "all spans", func() bool {
		return len(s.named("EVALSHA lock.acquire")) == 3
	})
	acquire := s.named("lock.acquire")[0]
	if acquire.parent.SpanID() != root.SpanContext().SpanID() || acquire.kind != trace.SpanKindInternal ||
		acquire.status != codes.Unset {
		t.Errorf("lock.acquire has parent %v, kind %v, status %v", acquire.parent.SpanID(), acquire.kind,
			acquire.status)
	}
	wantAttrs(t, acquire, "distributed_lock.resource=order:1001", "distributed_lock.mode=blocking",
		"distributed_lock.ttl=0.3",
		"distributed_lock.nodes=3", "distributed_lock.quorum=2", "distributed_lock.outcome=acquired",
		"distributed_lock.attempts=1", "distributed_lock.votes=2")
	for _, node := range s.named("EVALSHA lock.acquire") {
		if node.parent.SpanID() != acquire.SpanContext().SpanID() || node.kind != trace.SpanKindClient {
			t.Errorf("node span has parent %v and kind %v", node.parent.SpanID(), node.kind)
		}
		wantAttrs(t, node, "db.system.name=redis", "db.operation.name=EVALSHA", "db.stored_procedure.name=lock.acquire",
			"distributed_lock.attempt=1", "distributed_lock.granted=true")
	}
	linked := func(span *span) {
		t.Helper()
		if len(span.links) != 1 || !span.links[0].SpanContext.Equal(acquire.SpanContext()) {
			t.Errorf("%s links to %v, want the acquire span", span.name, span.links)
		}
	}
	renewals := 0
	for _, extend := range s.named("lock.extend") {
		wantAttrs(t, extend, "distributed_lock.outcome=ok")
		if extend.parent.SpanID() == acquire.SpanContext().SpanID() {
			renewals++
		} else {
			linked(extend)
		}
	}
	if renewals == 0 || renewals != len(s.named("lock.extend"))-1 {
		t.Errorf("%d renewals of %d extensions: all but the one by hand expected", renewals,
			len(s.named("lock.extend")))
	}
	release := s.named("lock.release")[0]
	linked(release)
	wantAttrs(t, release, "distributed_lock.outcome=released")
	if votes := attrs(release)["distributed_lock.votes"]; votes != "2" && votes != "3" { // the third may come later
		t.Errorf("lock.release has %q votes", votes)
	}
	if release.parent.SpanID() != root.SpanContext().SpanID() {
		t.Error("lock.release is no child of its caller's span")
	}
}

func wantAttrs(t *testing.T, span *span, want ...string) {
	t.Helper()
	have := attrs(span)
	for _, w := range want {
		key, value, _ := strings.Cut(w, "=")
		if have[key] != value {
			t.Errorf("%s: %s is %q, want %q", span.name, key, have[key], value)
		}
	}
}

// TestBlockerIsLinked: lockers of two processes contend.
func TestBlockerIsLinked(t *testing.T) { synctest.Test(t, testBlockerIsLinked) }

func testBlockerIsLinked(t *testing.T) {
	s := new(spans)
	p := s.provider()
	fakes := locktest.NewFakes(t, 3, lock.WithInstance("billing/7"))
	a, b := wrap(t, fakes(t), instrument.WithTracerProvider(p)), wrap(t, fakes(t), instrument.WithTracerProvider(p))
	lease, err := a.Acquire(t.Context(), "x")
	must(t, err)
	holder := s.named("lock.acquire")[0].SpanContext()
	_, err = b.Acquire(t.Context(), "x", lock.NoWait())
	if !errors.Is(err, lock.ErrHeld) {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		lease, err := b.Acquire(t.Context(), "x")
		if err == nil {
			err = lease.Release(t.Context())
		}
		got <- err
	}()
	eventually(t, "it waits", func() bool { return gather(t, b, "attempts_total", "resource", "x") >= 2 })
	synctest.Wait()
	must(t, lease.Release(t.Context()))
	must(t, <-got)
	all := s.named("lock.acquire")
	if len(all) != 3 {
		t.Fatalf("%d acquire spans", len(all))
	}
	for i, span := range all[1:] {
		found := false
		for _, link := range span.links {
			found = found || link.SpanContext.TraceID() == holder.TraceID() &&
				link.SpanContext.SpanID() == holder.SpanID()
		}
		if !found {
			t.Errorf("span %d has links %v, none to the holder", i, span.links)
		}
		wantAttrs(t, span, "distributed_lock.blocker.instance=billing/7")
	}
	wantAttrs(t, all[1], "distributed_lock.mode=try", "distributed_lock.outcome=contended", "error.type=")
	if all[1].status != codes.Unset {
		t.Errorf("a miss has status %v", all[1].status)
	}
}

// TestNodeErrors loses one node, then the quorum.
func TestNodeErrors(t *testing.T) {
	s, text := new(spans), new(logText)
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
	l := wrap(t, r, instrument.WithTracerProvider(s.provider()), instrument.WithLogger(text.logger()))
	servers[0].Crash()
	must(t, lock.Do(t.Context(), l, "x", func(context.Context, lock.Lease) error { return nil }))
	eventually(t, "the node's span", func() bool { return len(s.named("EVALSHA lock.acquire")) == 3 })
	if status := s.named("lock.acquire")[0].status; status != codes.Unset {
		t.Errorf("a node's failure makes the acquire %v", status)
	}
	failed := 0
	for _, span := range s.named("EVALSHA lock.acquire") {
		if span.status == codes.Error {
			failed++
			wantAttrs(t, span, "server.address=redis0", "server.port=6380")
			if attrs(span)["error.type"] == "" {
				t.Error("no error.type")
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d failed node spans, want 1", failed)
	}
	servers[1].Crash()
	if _, err := l.Acquire(t.Context(), "y", lock.NoWait()); !errors.Is(err, lock.ErrNoQuorum) {
		t.Fatal(err)
	}
	span := s.named("lock.acquire")[1]
	wantAttrs(t, span, "error.type=no_quorum", "distributed_lock.outcome=no_quorum")
	if span.status != codes.Error {
		t.Errorf("status %v", span.status)
	}
	eventually(t, "a log record with reasons", func() bool {
		return strings.Contains(text.String(), `msg="no quorum"`) &&
			strings.Contains(text.String(), "reasons.redis0:6380=")
	})
	if !strings.Contains(text.String(), "trace_id="+span.SpanContext().TraceID().String()) {
		t.Errorf("no trace in %s", text)
	}
}

func TestNodeSpansOff(t *testing.T) { synctest.Test(t, testNodeSpansOff) }

func testNodeSpansOff(t *testing.T) {
	s := new(spans)
	l := wrap(t, locktest.NewFakes(t, 1)(t), instrument.WithTracerProvider(s.provider()),
		instrument.WithNodeSpans(instrument.NodeSpansNone))
	must(t, lock.Do(t.Context(), l, "x", func(context.Context, lock.Lease) error { return nil }))
	if len(s.all) != 2 {
		t.Errorf("spans: %s", s.text())
	}
}

// TestNested takes a lock inside a lease, with another decorator and with the same one. Neither lock sees the other's
// events; a trace of the caller sees both.
func TestNested(t *testing.T) { synctest.Test(t, testNested) }

func testNested(t *testing.T) {
	s := new(spans)
	opt := instrument.WithTracerProvider(s.provider())
	a, b := wrap(t, locktest.NewFakes(t, 1)(t), opt), wrap(t, locktest.NewFakes(t, 1)(t), opt)
	plain := locktest.NewFakes(t, 1)(t)
	told := 0
	ctx := locktrace.With(t.Context(), &locktrace.Trace{AcquireEnd: func(context.Context, locktrace.AcquireEnd) { told++ }})
	nothing := func(context.Context, lock.Lease) error { return nil }
	must(t, lock.Do(ctx, a, "x", func(ctx context.Context, _ lock.Lease) error {
		return errors.Join(lock.Do(ctx, b, "y", nothing), lock.Do(ctx, a, "z", nothing),
			lock.Do(ctx, plain, "p", nothing))
	}))
	if told != 4 {
		t.Errorf("the caller's trace was told of %d acquires, want 4", told)
	}
	for resource, want := range map[string]float64{"x": 1, "y": 0, "z": 1, "p": 0} {
		if got := gather(t, a, "attempts_total", "resource", resource); got != want {
			t.Errorf("the outer decorator counted %v attempts for %s, want %v", got, resource, want)
		}
	}
	if got := gather(t, a, "node_duration_seconds", "lock_node", "fake1", "backend", "redis", "operation",
		"acquire"); got != 2 {
		t.Errorf("the outer decorator counted %v commands, want 2", got)
	}
	if n := len(s.named("EVALSHA lock.acquire")); n != 3 {
		t.Errorf("%d node spans, want 3", n)
	}
}

// TestTracingOff: with a noop provider no hooks for spans are installed, and the lock's traceparent stays the caller's.
func TestTracingOff(t *testing.T) { synctest.Test(t, testTracingOff) }

func testTracingOff(t *testing.T) {
	fakes := locktest.NewFakes(t, 1)
	l := wrap(t, fakes(t), instrument.WithTracerProvider(noopTrace.NewTracerProvider()))
	const mine = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	lease, err := l.Acquire(locktrace.WithTraceparent(t.Context(), mine), "x")
	must(t, err)
	_, err = fakes(t).Acquire(t.Context(), "x", lock.NoWait())
	if held, ok := errors.AsType[*lock.HeldError](err); !ok || held.Holder.Traceparent != mine {
		t.Errorf("held: %+v", held)
	}
	must(t, lease.Release(t.Context()))
}

// TestSpanFilter makes no span for a filtered resource, while its metrics go on.
func TestSpanFilter(t *testing.T) { synctest.Test(t, testSpanFilter) }

func testSpanFilter(t *testing.T) {
	s := new(spans)
	p := s.provider()
	l := wrap(t, locktest.NewFakes(t, 3)(t), instrument.WithTracerProvider(p),
		instrument.WithNodeSpans(instrument.NodeSpansAll),
		instrument.WithSpanAttributes(attribute.String("team", "billing")),
		instrument.WithSpanFilter(func(_ context.Context, resource string) bool {
			if resource == "broken" {
				panic("filter")
			}
			return resource != "quiet"
		}))
	ctx, root := p.Tracer("test").Start(t.Context(), "caller")
	hold := func(resource string) {
		lease, err := l.Acquire(ctx, resource)
		must(t, err)
		must(t, lease.Extend(ctx))
		must(t, lease.Release(ctx))
	}
	hold("quiet")
	hold("broken")
	hold("loud")
	root.End()
	eventually(t, "all node spans", func() bool { return len(s.named("EVALSHA lock.release")) == 6 })
	for _, name := range []string{"lock.acquire", "lock.extend", "lock.release"} {
		if got := len(s.named(name)); got != 2 {
			t.Errorf("%d spans %s, want 2", got, name)
		}
		for _, span := range s.named(name) {
			wantAttrs(t, span, "team=billing")
		}
	}
	for _, op := range []string{"acquire", "extend"} {
		if got := len(s.named("EVALSHA lock." + op)); got != 6 {
			t.Errorf("%d node spans of %s, want 6", got, op)
		}
	}
	if got := gather(t, l, "attempts_total", "resource", "quiet"); got != 1 {
		t.Errorf("%v attempts for the resource without spans", got)
	}
	if got := gather(t, l, "observer_panics_total"); got != 1 {
		t.Errorf("%v panics counted, want the filter's", got)
	}
}
