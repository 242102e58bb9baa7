package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestANamedWaiterAsksAllNodesAtOnce, because the lock is kept for it only for a moment. A waiter that was not named
// asks the gate first.
func TestANamedWaiterAsksAllNodesAtOnce(t *testing.T) {
	inProcess(t, func(p *process) {
		holder := p.acquire()
		other := p.another()
		named := false
		var after []locktrace.AttemptStart
		ctx := locktrace.With(p.t.Context(), &locktrace.Trace{
			WaitEnd: func(_ context.Context, e locktrace.WaitEnd) { named = named || e.Named },
			AttemptStart: func(ctx context.Context, e locktrace.AttemptStart) context.Context {
				if named {
					after = append(after, e)
				}
				return ctx
			},
		})
		served := make(chan error)
		go func() {
			lease, err := other.Acquire(ctx, "job")
			if err == nil {
				err = lease.Release(p.t.Context())
			}
			served <- err
		}()
		synctest.Wait()
		released := time.Now()
		if err := holder.Release(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
		if err := <-served; err != nil {
			p.t.Fatal(err)
		}
		// The attempt may reach nodes before the release does: then another one follows within milliseconds.
		if took := time.Since(released); len(after) == 0 || after[0].GateFirst || took > lock.DefaultPollInterval/10 {
			p.t.Errorf("after its name was called, attempts %+v and %v", after, took)
		}
	})
}
