package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// hung is a node that does not answer before its context ends.
type hung struct {
	driver.BlockingNode
	closed chan struct{}
}

func (*hung) Acquire(ctx context.Context, _ driver.AcquireRequest) (driver.AcquireReply, error) {
	<-ctx.Done()
	return driver.AcquireReply{}, driver.ErrTimeout
}

func (h *hung) Close() error {
	close(h.closed)
	return nil
}

// heard reports an answer to the test.
type heard chan error

func (h heard) Answer(_ driver.AcquireReply, err error) { h <- err }

// TestAsyncOnTheCallersGoroutine: a caller that only waits makes the call itself, and returns at once when it gives up.
// Giving up is no fault of the node; a timeout is.
func TestAsyncOnTheCallersGoroutine(t *testing.T) {
	for name, c := range map[string]struct {
		cancel time.Duration
		took   time.Duration
		want   error
	}{"gives up": {time.Second, time.Second, driver.ErrUnheard},
		"waits": {time.Hour, 5 * time.Second, driver.ErrTimeout}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := Async(&hung{closed: make(chan struct{})})
				wait, cancel := context.WithTimeout(t.Context(), c.cancel)
				defer cancel()
				began, to := time.Now(), make(heard, 1)
				n.Acquire(driver.Call{Context: t.Context(), Deadline: began.Add(5 * time.Second), Wait: wait},
					&driver.AcquireRequest{}, to)
				select {
				case err := <-to:
					if !errors.Is(err, c.want) || errors.Is(err, driver.ErrUnheard) != (c.want == driver.ErrUnheard) {
						t.Errorf("answered %v, want %v", err, c.want)
					}
				default:
					t.Error("it returned and had not answered")
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if err := n.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// preparing is a node that has to prepare before it can be asked.
type preparing struct{ driver.BlockingNode }

func (preparing) Acquire(ctx context.Context, _ driver.AcquireRequest) (driver.AcquireReply, error) {
	<-ctx.Done()
	return driver.AcquireReply{}, fmt.Errorf("%w: %w: %w", driver.ErrNotSent, driver.ErrTimeout, ctx.Err())
}

// TestAsyncWhatWasNotSent: a call that could not be sent in time counts against the node. A call that its caller
// abandoned does not.
func TestAsyncWhatWasNotSent(t *testing.T) {
	for patience, unheard := range map[time.Duration]bool{time.Second: true, time.Hour: false} {
		synctest.Test(t, func(t *testing.T) {
			wait, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			to := make(heard, 1)
			call := driver.Call{Context: t.Context(), Deadline: time.Now().Add(5 * time.Second), Wait: wait}
			Async(preparing{}).Acquire(call, &driver.AcquireRequest{}, to)
			if err := <-to; !errors.Is(err, driver.ErrNotSent) || errors.Is(err, driver.ErrUnheard) != unheard {
				t.Errorf("with a patience of %v: %v", patience, err)
			}
		})
	}
}

// TestAsyncCloseWaitsForItsCallers, on any goroutine, and admits no more.
func TestAsyncCloseWaitsForItsCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &hung{closed: make(chan struct{})}
		n, to := Async(node), make(heard, 2)
		call := driver.Call{Context: t.Context(), Deadline: time.Now().Add(time.Second), Wait: t.Context()}
		go n.Acquire(call, &driver.AcquireRequest{}, to)
		synctest.Wait()
		go func() { _ = n.Close() }()
		synctest.Wait()
		select {
		case <-node.closed:
			t.Error("it was closed under a call")
		default:
		}
		n.Acquire(call, &driver.AcquireRequest{}, to)
		if err := <-to; !errors.Is(err, driver.ErrClosed) || !errors.Is(err, driver.ErrNotSent) {
			t.Errorf("after Close: %v", err)
		}
		<-node.closed
		if err := <-to; !errors.Is(err, driver.ErrTimeout) {
			t.Errorf("the call before Close: %v", err)
		}
	})
}

// TestABudgetThatEndsUnderACall: the error names the holder that the attempt before found. It does not blame a node for
// an answer that nobody waited for.
func TestABudgetThatEndsUnderACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		n := &slowly{answer: driver.AcquireReply{TTL: time.Minute, Holder: "billing/7|1700000000000||job"}}
		e, err := NewEngine([]driver.Node{Async(n)}, lock.WithPollInterval(20*time.Millisecond),
			WithClock(func() time.Duration { return time.Since(began) }))
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Acquire(t.Context(), "job", lock.MaxWait(250*time.Millisecond))
		if !errors.Is(err, lock.ErrMaxWait) || !errors.Is(err, lock.ErrHeld) || errors.Is(err, lock.ErrNoQuorum) ||
			n.calls.Load() < 2 {
			t.Errorf("after %d calls: %v", n.calls.Load(), err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAReleaseThatIsNotWaitedFor goes on, and does not count against the node.
func TestAReleaseThatIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		n := &slowly{answer: driver.AcquireReply{Granted: true, Counter: 1, Run: 1}}
		var ends []locktrace.ReleaseEnd
		traced := locktrace.With(t.Context(),
			&locktrace.Trace{ReleaseEnd: func(_ context.Context, e locktrace.ReleaseEnd) { ends = append(ends, e) }})
		e, err := NewEngine([]driver.Node{Async(n)}, WithClock(func() time.Duration { return time.Since(began) }))
		if err != nil {
			t.Fatal(err)
		}
		lease, err := e.Acquire(traced, "job")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err = lease.Release(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lock.ErrNoQuorum) ||
			errors.Is(err, driver.ErrUnheard) {
			t.Errorf("Release says %v", err)
		}
		if len(ends) != 1 || ends[0].Failed != 0 {
			t.Errorf("told is %+v", ends)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// slowly answers after a tenth of a second.
type slowly struct {
	driver.BlockingNode
	answer driver.AcquireReply
	calls  atomic.Int32
}

func (*slowly) Name() string   { return "a" }
func (*slowly) System() string { return "test" }
func (*slowly) Close() error   { return nil }

func (*slowly) Capabilities() driver.Capabilities { return driver.Capabilities{} }
func (*slowly) Warm(context.Context) error        { return nil }

func (*slowly) Subscribe(context.Context, string, func(string)) error { return driver.ErrNoWakeUps }

func (*slowly) Release(ctx context.Context, _ driver.ReleaseRequest) (driver.ReleaseReply, error) {
	return driver.ReleaseReply{Found: driver.FoundOwn}, delay(ctx)
}

func (s *slowly) Acquire(ctx context.Context, _ driver.AcquireRequest) (driver.AcquireReply, error) {
	s.calls.Add(1)
	return s.answer, delay(ctx)
}

func delay(ctx context.Context) error {
	select {
	case <-time.After(100 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return driver.ErrTimeout
	}
}
