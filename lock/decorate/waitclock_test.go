package decorate_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// noQuorum is the error of an attempt in which all three nodes failed.
var noQuorum error = &lock.QuorumError{
	Nodes: 3, Quorum: 2, Errors: []*lock.NodeError{{Err: errors.New("a")}, {Err: errors.New("b")},
		{Err: errors.New("c")}},
}

func TestWaitClock(t *testing.T) {
	holder, later := &lock.HeldError{Resource: "first"}, &lock.HeldError{Resource: "second"}
	front, last := holder, error(nil)
	began := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	var c decorate.WaitClock
	c.Start(at(0))
	for i, step := range []struct {
		name string
		got  decorate.Stretch
		want decorate.Stretch
	}{
		{"first attempt", c.WaitStart(at(1), locktrace.WaitStart{Kind: locktrace.WaitHolder, Blocker: holder}),
			decorate.Stretch{Class: locktrace.WaitNetwork, Took: time.Second}},
		{"so far", c.Take(at(3)), decorate.Stretch{Class: locktrace.WaitHolder, Blocker: holder,
			Took: 2 * time.Second}},
		{"rest", c.WaitEnd(at(6)), decorate.Stretch{Class: locktrace.WaitHolder, Blocker: holder,
			Took: 3 * time.Second}},
		{"attempt that fails", c.WaitStart(at(10),
			locktrace.WaitStart{Kind: locktrace.WaitBackingOff, Blocker: holder, Last: noQuorum}),
			decorate.Stretch{Class: locktrace.WaitNetwork, Took: 4 * time.Second}},
		{"backoff", c.WaitEnd(at(11)), decorate.Stretch{Class: locktrace.WaitNoQuorum, Took: time.Second}},
		{"attempt after it", c.WaitStart(at(16), locktrace.WaitStart{Kind: locktrace.WaitLocal, Blocker: holder,
			Front: func() (*lock.HeldError, error) { return front, last }}),
			decorate.Stretch{Class: locktrace.WaitNoQuorum, Took: 5 * time.Second}},
	} {
		if step.got != step.want {
			t.Errorf("step %d, %s: %+v, want %+v", i, step.name, step.got, step.want)
		}
	}
	front = later
	if got, want := c.Take(at(17)), (decorate.Stretch{locktrace.WaitHolder, later, time.Second}); got != want {
		t.Errorf("behind another caller: %+v, want %+v", got, want)
	}
	last = noQuorum
	if class, blocker := c.Class(); class != locktrace.WaitNoQuorum || blocker != nil {
		t.Errorf("the caller in front has no quorum, but class %s behind %v", class, blocker)
	}
	if got, want := c.End(at(19)), (decorate.Stretch{Class: locktrace.WaitNoQuorum, Took: 2 * time.Second}); got != want {
		t.Errorf("end: %+v, want %+v", got, want)
	}
	if got := c.Take(at(30)); got.Took != 0 {
		t.Errorf("%v after the end", got.Took)
	}
	if got := c.WaitEnd(at(1)); got.Took != 0 {
		t.Errorf("%v with a clock that ran backwards", got.Took)
	}
}

// TestWaitInLine: the time in a line is that of the line, and the rest that of the clock.
func TestWaitInLine(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	front := func() (*lock.HeldError, error) { return nil, noQuorum }
	var c decorate.WaitClock
	c.Start(at(0))
	local := locktrace.WaitStart{Kind: locktrace.WaitLocal, Front: front}
	if got := c.WaitInLine(at(1), local); got.Took != time.Second || got.Class != locktrace.WaitNetwork {
		t.Errorf("before the line: %+v", got)
	}
	if class, _ := c.Class(); class != locktrace.WaitNoQuorum {
		t.Errorf("in line: class %s", class)
	}
	if got := c.Take(at(3)).Took + c.WaitEnd(at(5)).Took; got != 0 {
		t.Errorf("in line: %v", got)
	}
	if got := c.WaitStart(at(7), locktrace.WaitStart{Kind: locktrace.WaitHolder}); got.Took != 2*time.Second {
		t.Errorf("after the line: %+v", got)
	}
	c.WaitInLine(at(8), local)
	if got := c.WaitStart(at(9), local); got.Took != 0 {
		t.Errorf("in line again: %+v", got)
	}
	if got := c.End(at(10)); got.Took != time.Second {
		t.Errorf("out of line: %+v", got)
	}
}

// TestFrontNamesTheHolder: a caller behind another one of its process learns for whom that one waits. A lease of this
// process is named with its call site.
func TestFrontNamesTheHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		other := newLocker(t, nodes, lock.WithInstance("billing/1"))
		held, err := other.Acquire(t.Context(), "job")
		must(t, err)
		l := newLocker(t, nodes, lock.WithInstance("orders/1"))
		waits := make(chan locktrace.WaitStart, 2)
		ctx := locktrace.With(t.Context(), &locktrace.Trace{
			WaitStart: func(ctx context.Context, e locktrace.WaitStart) context.Context {
				if e.Kind == locktrace.WaitLocal {
					waits <- e
				}
				return ctx
			},
		})
		got := make(chan lock.Lease)
		acquire := func() {
			lease, err := l.Acquire(ctx, "job")
			if err != nil {
				t.Error(err)
			}
			got <- lease
		}
		go acquire()
		synctest.Wait()
		time.Sleep(time.Second)
		go acquire()
		behind := <-waits
		if holder, _ := behind.Front(); holder == nil || holder.Holder.Instance != "billing/1" ||
			behind.Blocker == nil || behind.Class() != locktrace.WaitHolder {
			t.Errorf("behind %+v, who waits for %v", behind, holder)
		}
		must(t, held.Release(t.Context()))
		first := <-got
		if holder, _ := behind.Front(); holder == nil || holder.Holder.Instance != "orders/1" {
			t.Errorf("behind a lease of its own process that was just granted, but %+v", holder)
		}
		must(t, first.Release(t.Context()))
		must(t, (<-got).Release(t.Context()))
	})
}
