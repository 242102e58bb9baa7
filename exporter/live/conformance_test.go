package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// nodeTimeout is longer than the default: the machine may be busy.
const nodeTimeout = 2 * time.Second

func TestLockerOnFakes(t *testing.T) {
	t.Parallel()
	conformInFakeTime(t, 3, driver.Capabilities{Keep: true, Readers: true, SlotQueue: true}, func(t testing.TB, board *live.Board,
		fake lock.Locker) lock.Locker {
		return wrap(t, board, fake)
	})
}

// TestStacked has one Board inside instrument and one outside, and both around or inside a reentrant Locker.
func TestStacked(t *testing.T) {
	t.Parallel()
	conformInFakeTime(t, 3, driver.Capabilities{Keep: true, Readers: true, SlotQueue: true}, func(t testing.TB, outer *live.Board, fake lock.Locker) lock.Locker {
		inner := newBoard(t)
		t.Cleanup(func() { wantIdle(t, inner) })
		return wrap(t, outer, lock.Reentrant(instrumented(t, wrap(t, inner, fake))))
	})
}

// TestHostileObservers locks in the trace of a span that panics when it is used, with errors whose text cannot be read.
func TestHostileObservers(t *testing.T) {
	t.Parallel()
	conformInFakeTime(t, 1, driver.Capabilities{Keep: true, Readers: true}, func(t testing.TB, board *live.Board, fake lock.Locker) lock.Locker {
		return hostile{wrap(t, board, hostileErrors{fake})}
	})
}

// conformInFakeTime runs the suite on n fake nodes, with a Board for each test that must be idle afterwards.
func conformInFakeTime(
	t *testing.T, n int, c driver.Capabilities, around func(testing.TB, *live.Board, lock.Locker) lock.Locker,
) {
	locktest.Run(t, locktest.Driver{
		Start: func(t testing.TB) locktest.Maker {
			fakes, board := locktest.NewFakes(t, n), newBoard(t)
			t.Cleanup(func() { wantIdle(t, board) })
			return func(t testing.TB, opts ...lock.Option) lock.Locker { return around(t, board, fakes(t, opts...)) }
		},
		Capabilities: c,
	})
}

// TestErrorsThatCannotBeTold: a node returns errors that panic when their text is read.
func TestErrorsThatCannotBeTold(t *testing.T) {
	r, err := engine.NewEngine([]driver.Node{engine.Async(&instant{name: "a", err: hostileError{driver.ErrBadReply}})})
	must(t, err)
	defer func() { must(t, r.Close()) }()
	board := newBoard(t)
	if _, err := wrap(t, board, r).Acquire(t.Context(), "x", lock.NoWait()); !errors.Is(err, driver.ErrBadReply) {
		t.Fatal("acquired from a node that fails")
	}
	_, _ = wrap(t, board, &noop{err: hostileError{lock.ErrNoQuorum}}).Acquire(t.Context(), "y")
	const text = "an error whose text is not available"
	s := stateOf(board)
	if n := s.Nodes[0]; n.Error != text || n.Failures != 1 || n.State != state.NodeBarred {
		t.Errorf("node: %+v", n)
	}
	for _, a := range s.Slowest {
		if a.Outcome != string(lock.ReasonNoQuorum) || a.Resource == "y" && a.Error != text || a.Resource == "x" &&
			a.Steps[1].Detail != text {
			t.Errorf("acquisition: %+v", a)
		}
	}
}

// wantIdle requires that all leases and calls have left the Board.
func wantIdle(t testing.TB, b *live.Board) {
	t.Helper()
	eventually(t, "nobody holds and nobody waits", func() bool {
		s := b.State(context.Background())
		return len(s.Held)+len(s.Waiting)+s.Omitted.Held+s.Omitted.Waiting == 0
	})
}

func instrumented(t testing.TB, next lock.Locker) lock.Locker {
	t.Helper()
	l, err := instrument.Wrap(next, instrument.WithRegisterer(prometheus.NewRegistry()))
	must(t, err)
	return l
}

// hostile puts a panicking span into the context of every call.
type hostile struct{ lock.Locker }

func (h hostile) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	return h.Locker.Acquire(trace.ContextWithSpan(ctx, hostileSpan{}), resource, opts...)
}

type hostileSpan struct{ trace.Span }

func (hostileSpan) SpanContext() trace.SpanContext { panic("span") }

// hostileErrors returns errors that panic when the Board reads their text. The suite matches errors, and reads their
// text only when it fails.
type hostileErrors struct{ lock.Locker }

func (h hostileErrors) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	lease, err := h.Locker.Acquire(ctx, resource, opts...)
	if err != nil {
		return lease, hostileError{err}
	}
	return lease, nil
}

type hostileError struct{ error }

func (hostileError) Error() string   { panic("error") }
func (e hostileError) Unwrap() error { return e.error }
