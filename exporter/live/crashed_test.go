package live_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestALeaseThatEndedWithoutRelease counts as held for the rest of its TTL, after the crash of a locker of the Board or
// of another process. Only then does it move to the former holders, with the time for which it was held.
func TestALeaseThatEndedWithoutRelease(t *testing.T) {
	for name, here := range map[string]bool{"of the Board": true, "of another process": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				nodes := memlock.NewNodes(3)
				board := newBoard(t)
				crashes, err := memlock.New(nodes, lock.WithInstance("orders/1"))
				must(t, err)
				var holder lock.Locker = crashes
				if here {
					holder = wrap(t, board, crashes, live.WithLockerInstance("orders/1"))
				}
				waits := newMemory(t, board, nodes, "stock/2")
				released := acquire(t, waits, "order")
				first := acquireAsync(t.Context(), holder, "order")
				settle(time.Second)
				must(t, released.Release(t.Context()))
				must(t, (<-first).err)
				next := acquireAsync(t.Context(), waits, "order")
				settle(time.Millisecond)
				must(t, crashes.Close())
				for range 16 {
					settle(500 * time.Millisecond)
					if row := stateOf(board).Blocked[0]; row.Holder == nil || row.Holder.Holder != "orders/1" {
						t.Errorf("the holder is %+v", row.Holder)
					}
					wantNotPast(t, stateOf(board))
				}
				s := stateOf(board)
				if len(s.Blocked) != 1 || s.Blocked[0].Holder == nil || s.Blocked[0].Holder.Holder != "orders/1" ||
					!near(*s.Blocked[0].Holder.Age, 8) {
					t.Fatalf("blocked %+v", s.Blocked)
				}
				wantNotPast(t, s)
				if h := s.Blocked[0].Holder; h.Unrenewed == nil || *h.Unrenewed < 5 || *h.Unrenewed > 8.1 ||
					h.Remaining == nil || *h.Remaining > 2.1 {
					t.Errorf("for eight seconds it has not renewed: %+v", h)
				}
				got := <-next
				must(t, got.err)
				settle(time.Second)
				must(t, got.lease.Release(t.Context()))
				found := 0
				for _, h := range holdsOf(stateOf(board)) {
					if h.Holder == "orders/1" && h.Took > 9.5 && h.Took < 10.5 && h.Elsewhere != here && h.Unreleased == here {
						found++
					}
				}
				if found != 1 {
					t.Errorf("what held the lock for ten seconds is not in the history: %+v", holdsOf(stateOf(board)))
				}
			})
		})
	}
}

// wantNotPast fails the test if the holder is among those who held the lock before.
func wantNotPast(t *testing.T, s state.State) {
	t.Helper()
	for _, h := range holdsOf(s) {
		if h.Holder == "orders/1" {
			t.Errorf("it holds, and is said to have held before: %+v", h)
		}
	}
}

func holdsOf(s state.State) (all []state.Tenure) {
	for _, h := range s.History {
		all = append(all, h.Holds...)
	}
	return all
}

// TestALeaseThatMissesItsRenewals says so while it is held. One that is renewed in time does not, nor one of a Locker
// that does not report renewals.
func TestALeaseThatMissesItsRenewals(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		board := newBoard(t)
		l := newMemory(t, board, nodes, "orders/1")
		lease := acquire(t, l, "order")
		settle(time.Millisecond)
		untold := acquire(t, wrap(t, board, &noop{}), "other")
		unrenewed := func() *float64 {
			held := stateOf(board).Held
			if len(held) != 2 || held[0].Resource != "order" {
				t.Fatalf("held: %+v", held)
			}
			if late := held[1].Unrenewed; late != nil {
				t.Fatalf("nothing reports renewals, and it says %v s", *late)
			}
			return held[0].Unrenewed
		}
		for range 60 {
			settle(500 * time.Millisecond)
			if late := unrenewed(); late != nil {
				t.Fatalf("it is renewed, and said to be not for %v s", *late)
			}
		}
		nodes.NoQuorum()
		settle(6 * time.Second)
		if late := unrenewed(); late == nil || *late < 6 || *late > 9.5 {
			t.Errorf("for six seconds it could not be renewed; it says %v", late)
		}
		nodes.Recover()
		_ = lease.Release(t.Context())
		must(t, untold.Release(t.Context()))
	})
}

// TestALeaseThatIsReleasedAfterItsEnd was not lost: its holder gave it back. It was if the nodes did not answer.
func TestALeaseThatIsReleasedAfterItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		waits  time.Duration // after the grant: when somebody begins to wait. The lease ends after two seconds
		outage bool          // during the release
	}{
		"waited for":             {time.Second, false},
		"waited for since":       {3 * time.Second, false},
		"as no node can be told": {time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				nodes, board := memlock.NewNodes(3), newBoard(t)
				l, waits := newMemory(t, board, nodes, "orders/1"), newMemory(t, board, nodes, "stock/2")
				next := make(chan (<-chan acquisition), 1)
				ctx, cancel := context.WithCancel(t.Context())
				err := lock.Do(ctx, l, "order", func(context.Context, lock.Lease) error {
					time.AfterFunc(2*time.Second, cancel)
					settle(c.waits)
					next <- acquireAsync(t.Context(), waits, "order")
					settle(4*time.Second - c.waits)
					if c.outage {
						nodes.NoQuorum()
					}
					return nil
				})
				if (err != nil) != c.outage {
					t.Errorf("released: %v", err)
				}
				nodes.Recover()
				got := <-<-next
				must(t, got.err)
				settle(time.Second)
				must(t, got.lease.Release(t.Context()))
				var of []state.Tenure
				for _, h := range holdsOf(stateOf(board)) {
					if h.Holder == "orders/1" {
						of = append(of, h)
					}
				}
				if len(of) != 1 || of[0].Unreleased != c.outage || !c.outage && !near(of[0].Took, 4) {
					t.Errorf("it held the lock for four seconds; the history has %+v", of)
				}
			})
		})
	}
}

// TestALeaseThatNobodyRenews misses no renewal: its caller turned renewal off.
func TestALeaseThatNobodyRenews(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		lease := acquire(t, newMemory(t, board, memlock.NewNodes(3), "orders/1"), "order", lock.NoRenew())
		settle(5 * time.Second)
		if late := stateOf(board).Held[0].Unrenewed; late != nil {
			t.Errorf("after half of its TTL it is said to be not renewed for %v s", *late)
		}
		must(t, lease.Release(t.Context()))
	})
}
