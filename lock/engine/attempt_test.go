package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestATokenIsOfOneAttempt: no node gets the same token twice.
func TestATokenIsOfOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe(t)
		holder, err := o.another().Acquire(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		o.acquires = nil
		for range 2 {
			if _, err := o.engine.Acquire(t.Context(), "job", lock.MaxAttempts(3)); !errors.Is(err, lock.ErrHeld) {
				t.Fatal(err)
			}
		}
		if err := holder.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		tokens := make(map[string]bool)
		for _, req := range o.acquires {
			if len(req.Token) != driver.TokenLength {
				t.Errorf("a token of %d digits", len(req.Token))
			}
			tokens[req.Token] = true
		}
		if len(tokens) != 6 {
			t.Errorf("%d tokens in 6 attempts", len(tokens))
		}
	})
}

// TestTheSecondAttemptFollowsAtOnce, and the third after a pause, as the doc of MaxAttempts says.
func TestTheSecondAttemptFollowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe(t)
		holder, err := o.another().Acquire(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = holder.Release(t.Context()) }()
		synctest.Wait() // until all nodes have granted: one that has not would waste a grant
		for attempts, waits := range map[int]bool{1: false, 2: false, 3: true} {
			began, another := time.Now(), o.another()
			_, err := another.Acquire(t.Context(), "job", lock.MaxAttempts(attempts))
			if took := time.Since(began); !errors.Is(err, lock.ErrHeld) || (took > lock.DefaultPollInterval/4) != waits {
				t.Errorf("%d attempts took %v: %v", attempts, took, err)
			}
		}
	})
}

// TestAnAttemptThatOthersDecidedIsNoFailureOfANode: calls queue for a node that answers. An acquire whose turn came too
// late was given up, which is no failure of that node. Only a node that does not answer counts as not asked.
func TestAnAttemptThatOthersDecidedIsNoFailureOfANode(t *testing.T) {
	for name, pause := range map[string]time.Duration{"slow": 20 * time.Millisecond, "silent": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := observe(t)
				unsent := make(chan error, 10)
				ctx := locktrace.With(t.Context(), &locktrace.Trace{NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
					if e.Op == lock.OpAcquire && errors.Is(e.Err, driver.ErrNotSent) {
						unsent <- e.Err
					}
				}})
				o.servers[0].Pause()
				lease, err := o.engine.Acquire(ctx, "job", lock.NoWait())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := o.engine.Acquire(ctx, "job", lock.NoWait()); !errors.Is(err, lock.ErrHeld) {
					t.Fatal(err)
				}
				time.Sleep(pause)
				o.servers[0].Resume()
				time.Sleep(time.Second)
				if err := <-unsent; errors.Is(err, context.Canceled) != (name == "slow") || len(unsent) > 0 {
					t.Errorf("not sent: %v, and %d others", err, len(unsent))
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestWhatWasGivenUpIsNotSent: an acquire that queues behind another call to its node is dropped once its attempt is
// over.
func TestWhatWasGivenUpIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe(t)
		o.servers[0].Pause()
		lease, err := o.engine.Acquire(t.Context(), "job", lock.NoWait())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		if _, err := o.engine.Acquire(t.Context(), "job", lock.NoWait()); !errors.Is(err, lock.ErrHeld) {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the attempt has given the paused server up
		sent := make(map[string]int)
		for _, req := range o.acquires {
			sent[req.Token]++
		}
		for token, n := range sent {
			if want := map[bool]int{true: 3, false: 2}[token == o.acquires[0].Token]; n != want {
				t.Errorf("a token was sent to %d servers, want %d", n, want)
			}
		}
		o.servers[0].Resume()
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
