package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestGivingUpInTheInstantOfAHandOver, before or after it: the caller that gives up gets its error, unless it already
// has its lease. The next caller gets the lock, or the lock is released.
func TestGivingUpInTheInstantOfAHandOver(t *testing.T) {
	var passed, released, late int
	for i := range 300 {
		inProcess(t, func(p *process) {
			others := []options{nil, nil, nil}[:1+i%3]
			holder, waiting := p.queue(nil, others...)
			began := time.Now()
			if i%2 == 0 {
				waiting[0].cancel()
			}
			_ = holder.lease.Release(p.t.Context())
			waiting[0].cancel()
			<-waiting[0].done
			if i%2 == 1 && waiting[0].err != nil {
				late++
			}
			if i%2 == 1 && waiting[0].err == nil {
				waiting[0].release()
			} else if !errors.Is(waiting[0].err, context.Canceled) || waiting[0].end.HandedOver ||
				waiting[0].wait.HandedOver {
				t.Errorf("it got %v", waiting[0].err)
			}
			for _, w := range waiting[1:] {
				<-w.done
				if w.end.HandedOver {
					passed++
				}
				w.release()
			}
			synctest.Wait()
			if p.isHeld() || time.Since(began) > 2*afterNamedInVain {
				t.Errorf("held after all was released, and %v", time.Since(began))
			}
			if len(waiting) == 1 && waiting[0].err != nil && p.handed.read() > 0 {
				released++
			}
		})
	}
	if t.Logf("%d got it after one who gave up, %d were released, %d gave up with the lock in hand", passed, released,
		late); passed == 0 || released == 0 || late == 0 {
		t.Error("nobody gave up in the instant")
	}
}

// TestGivingUpBeforeOneThatContends: the next in the queue cannot be handed the lock and must not wait for a hand-over.
func TestGivingUpBeforeOneThatContends(t *testing.T) {
	inProcess(t, func(p *process) {
		holder, waiting := p.queue(nil, nil, options{lock.Fair()})
		before := p.attempts.read()
		waiting[0].cancel()
		synctest.Wait()
		if p.attempts.read() == before {
			t.Error("it waits for a hand-over that cannot come")
		}
		holder.release()
		time.Sleep(afterNamedInVain)
		waiting[1].release()
	})
}

// TestCloseInTheInstantOfAHandOver: every call and every lease ends with ErrClosed, in either order.
func TestCloseInTheInstantOfAHandOver(t *testing.T) {
	for range 100 {
		inProcess(t, func(p *process) {
			holder, waiting := p.queue(nil, nil, nil)
			go func() { _ = holder.lease.Release(p.t.Context()) }()
			_ = p.locker.Close()
			for _, w := range append(waiting, holder) {
				<-w.done
				switch {
				case w.err != nil && !errors.Is(w.err, lock.ErrClosed):
					t.Errorf("Acquire failed with %v", w.err)
				case w.err != nil:
				case w.lease.Context().Err() == nil:
					t.Error("a lease outlives Close")
				}
			}
		})
	}
}
