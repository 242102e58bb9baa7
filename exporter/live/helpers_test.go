package live_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// patience bounds a test's waits on a busy machine.
const patience = 30 * time.Second

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually polls, because only a State shows the condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

func newBoard(t testing.TB, opts ...live.Option) *live.Board {
	t.Helper()
	b, err := live.New(opts...)
	must(t, err)
	return b
}

func wrap(t testing.TB, b *live.Board, next lock.Locker, opts ...live.WrapOption) lock.Locker {
	t.Helper()
	l, err := b.Wrap(next, opts...)
	must(t, err)
	return l
}

// onRedis uses servers that were empty from the start.
func onRedis(t testing.TB, servers []*redisproc.Server, opts ...lock.Option) *engine.Engine {
	t.Helper()
	var clients []redis.UniversalClient
	for _, s := range servers {
		clients = append(clients, redis.NewClient(&redis.Options{Addr: s.Addr()}))
	}
	l, err := redlock.New(clients, append([]lock.Option{redlock.WithRestartQuarantine(0),
		lock.WithNodeTimeout(nodeTimeout)}, opts...)...)
	must(t, err)
	t.Cleanup(func() {
		must(t, l.Close())
		for _, c := range clients {
			_ = c.Close()
		}
	})
	return l
}

func acquire(t testing.TB, l lock.Locker, resource string, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), resource, opts...)
	must(t, err)
	return lease
}

// acquisition is an Acquire in the background.
type acquisition struct {
	lease lock.Lease
	err   error
}

func acquireAsync(ctx context.Context, l lock.Locker, resource string, opts ...lock.AcquireOption) <-chan acquisition {
	done := make(chan acquisition, 1)
	go func() {
		lease, err := l.Acquire(ctx, resource, opts...)
		done <- acquisition{lease, err}
	}()
	return done
}

// noop is a Locker that only hands out a lease, and calls no hooks.
type noop struct{ err error }

func (n *noop) Acquire(ctx context.Context, resource string, _ ...lock.AcquireOption) (lock.Lease, error) {
	if n.err != nil {
		return nil, n.err
	}
	return &noopLease{ctx: ctx, resource: resource}, nil
}

type noopLease struct {
	ctx      context.Context
	resource string
}

func (l *noopLease) Resource() string              { return l.resource }
func (l *noopLease) Context() context.Context      { return l.ctx }
func (l *noopLease) Fence() uint64                 { return 1 }
func (l *noopLease) Remaining() time.Duration      { return time.Second }
func (l *noopLease) Extend(context.Context) error  { return nil }
func (l *noopLease) Release(context.Context) error { return nil }

func resourceName(i int) string { return "order:" + strconv.Itoa(i) }

// inTrace returns a context in the trace with that number.
func inTrace(ctx context.Context, number byte) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{15: number}, SpanID: trace.SpanID{7: number}, TraceFlags: trace.FlagsSampled,
	}))
}
