package livetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// Names of processes in a scene.
const (
	orders  = "orders-7d9f5c/1" // the one whose Board it is
	billing = "billing-84cc/1"
)

// world is a few processes on nodes in memory, in fake time. One of them has a Board.
type world struct {
	t       *testing.T
	ctx     context.Context
	board   *live.Board
	working sync.WaitGroup
}

// inWorld returns the state of a Board at the end of a scene.
func inWorld(t *testing.T, scene func(w *world)) (s state.State) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		board, err := live.New(live.WithInstance(orders), live.WithTraceURL("https://tempo.example.com/trace/{traceID}"))
		must(t, err)
		w := &world{t: t, ctx: ctx, board: board}
		t.Cleanup(func() {
			cancel()
			w.working.Wait()
		})
		scene(w)
		synctest.Wait()
		s = board.State(ctx)
	})
	return s
}

// nodes are named as servers are. They answer within a few milliseconds.
func (w *world) nodes(n int) memlock.Nodes {
	nodes := memlock.NewNodes(n)
	for i, node := range nodes {
		node.Delay(time.Duration(700+350*i) * time.Microsecond)
	}
	return nodes
}

// process is an engine of another process.
func (w *world) process(instance string, nodes memlock.Nodes, opts ...lock.Option) *memlock.Locker {
	w.t.Helper()
	names := make([]string, len(nodes))
	for i := range names {
		names[i] = fmt.Sprintf("redis-%d:6379", i+1)
	}
	l, err := memlock.New(nodes, append([]lock.Option{lock.WithInstance(instance), lock.WithCallSites(),
		lock.WithBackend("redis"), lock.WithNodeNames(names...), lock.WithPage("http://10.0.3.17:9090/debug/locks"),
		engine.WithRandom(func(n int64) int64 { return n / 2 })}, opts...)...)
	must(w.t, err)
	w.t.Cleanup(func() { must(w.t, l.Close()) })
	return l
}

// here is an engine of the process with the Board.
func (w *world) here(nodes memlock.Nodes, opts ...lock.Option) lock.Locker {
	w.t.Helper()
	l, err := w.board.Wrap(w.process(orders, nodes, opts...))
	must(w.t, err)
	return l
}

// hold acquires a lock and keeps it, renewed, until the scene ends.
func (w *world) hold(l lock.Locker, resource string, opts ...lock.AcquireOption) lock.Lease {
	w.t.Helper()
	lease, err := siteOf(resource)(locktrace.WithTraceparent(w.ctx, "00-"+Trace+"-0000000000000001-01"), l, resource, opts...)
	must(w.t, err)
	return lease
}

// wait has n callers wait for a resource, each a while after the one before.
func (w *world) wait(ctx context.Context, l lock.Locker, n int, resource string, apart time.Duration) {
	for i := range n {
		in := trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{0: 0x4b, 14: byte(i >> 8), 15: byte(i + 1)}, SpanID: trace.SpanID{7: 1},
		}))
		w.working.Go(func() { _, _ = siteOf(resource)(in, l, resource) })
		time.Sleep(apart)
	}
}

// traffic has callers take one of a few locks for some milliseconds each, from now on.
func (w *world) traffic(l lock.Locker, callers int) {
	for seed := range uint64(callers) {
		random := rand.New(rand.NewPCG(seed, 7))
		w.working.Go(func() {
			for w.ctx.Err() == nil {
				name := fmt.Sprintf("cart:%d", 5541+random.IntN(2*callers))
				_ = lock.Do(w.ctx, l, name, func(context.Context, lock.Lease) error {
					time.Sleep(time.Duration(2+random.IntN(40)) * time.Millisecond)
					return nil
				})
				select {
				case <-w.ctx.Done():
				case <-time.After(time.Duration(100+random.IntN(400)) * time.Millisecond):
				}
			}
		})
	}
}
