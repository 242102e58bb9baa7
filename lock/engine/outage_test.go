package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestEveryCallerLearnsWhyNobodyGetsTheLock: a thousand callers give up. Those that queued behind a caller of their
// process also learn the nodes that failed, and the process that holds the lock.
func TestEveryCallerLearnsWhyNobodyGetsTheLock(t *testing.T) {
	for name, want := range map[string]error{"dead": lock.ErrNoQuorum, "hung": lock.ErrNoQuorum, "held": lock.ErrHeld} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := observe(t)
				switch name {
				case "held":
					holder, err := o.another(lock.WithInstance("billing-7")).Acquire(t.Context(), "job")
					if err != nil {
						t.Fatal(err)
					}
					defer func() { _ = holder.Release(t.Context()) }()
				case "dead":
					for _, s := range o.servers {
						s.Crash()
					}
				case "hung":
					for _, s := range o.servers {
						s.Pause()
						defer s.Resume()
					}
				}
				const callers = 1000
				errs := make(chan error, callers)
				for range callers {
					go func() {
						_, err := o.engine.Acquire(t.Context(), "job", lock.MaxWait(5*time.Second))
						errs <- err
					}()
				}
				for range callers {
					err := <-errs
					if !errors.Is(err, lock.ErrMaxWait) || !errors.Is(err, want) ||
						lock.ReasonOf(err) != lock.ReasonTimeout {
						t.Fatalf("%v does not match %v", err, want)
					}
					if name == "held" && !strings.Contains(err.Error(), "billing-7") {
						t.Fatalf("%v does not name the holder", err)
					}
				}
			})
		})
	}
}

// TestACallCutShortNamesTheNodes: its context ends before the node timeout, and no node has answered.
func TestACallCutShortNamesTheNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := observe(t)
		for _, s := range o.servers {
			s.Pause()
			defer s.Resume()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := o.engine.Acquire(ctx, "job", lock.NoWait())
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lock.ErrNoQuorum) {
			t.Errorf("%v: the nodes had time left", err)
		}
		if want := "(a, b, c: not waited for)"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	})
}
