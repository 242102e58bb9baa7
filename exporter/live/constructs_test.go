package live_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/lockset"
	"github.com/lockscope/lockscope/lock/memlock"
)

func slotOf(k int) lock.AcquireOption {
	return lock.Slots(k)
}

// TestElectionOnTheBoard: the leader's row has the term, and the row of those that wait counts the candidates. The
// leader waits for a lock whose holder is a candidate: that is a deadlock.
func TestElectionOnTheBoard(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		l := newMemory(t, board, memlock.NewNodes(3), "billing/1")
		term, err := election.Campaign(t.Context(), l, "leader")
		must(t, err)
		stock := acquire(t, l, "stock")
		campaigns, stop := context.WithCancel(context.WithoutCancel(stock.Context()))
		ended := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := election.Campaign(campaigns, l, "leader")
				ended <- err
			}()
		}
		settle(3 * time.Second)
		s := stateOf(board)
		leader := s.Held[slices.IndexFunc(s.Held, func(h state.Held) bool { return h.Resource == "leader" })]
		if leader.Kind != "election" || leader.Fence != term.Number() || leader.Waiters != 2 || leader.Slots != 0 {
			t.Errorf("the leader: %+v", leader)
		}
		if len(s.Blocked) != 1 || s.Blocked[0].Kind != "election" || s.Blocked[0].Waiting != 2 ||
			s.Blocked[0].Holder == nil || s.Blocked[0].Holder.Fence != term.Number() || s.Blocked[0].Deadlock {
			t.Errorf("blocked %+v", s.Blocked)
		}
		wait := acquireAsync(term.Context(), l, "stock")
		settle(time.Second)
		s = stateOf(board)
		if len(s.Deadlocks) != 1 || len(s.Deadlocks[0].Cycle) != 2 {
			t.Errorf("deadlocks %+v, want the election and the lock", s.Deadlocks)
		}
		stop()
		for range 2 {
			<-ended
		}
		must(t, stock.Release(t.Context()))
		got := <-wait
		must(t, got.err)
		must(t, got.lease.Release(t.Context()))
		must(t, term.Resign(t.Context()))
	})
}

// TestCandidatesStandBy: after an hour, nothing that counts or charges waits has a candidate, also when it has won. The
// rows of the election come last.
func TestCandidatesStandBy(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		l := newMemory(t, board, memlock.NewNodes(3), "billing/1")
		term, err := election.Campaign(t.Context(), l, "leader")
		must(t, err)
		won := make(chan election.Term, 2)
		for range 2 {
			go func() {
				next, err := election.Campaign(t.Context(), l, "leader")
				if err != nil {
					t.Error(err)
				}
				won <- next
			}()
		}
		stock := acquire(t, l, "stock")
		settle(time.Hour)
		waiting := acquireAsync(t.Context(), l, "stock")
		settle(2 * time.Second)
		s := stateOf(board)
		if n := s.Totals; n.Waiting != 1 || n.Candidates != 2 || n.Attempting != 0 || n.Contended != 1 ||
			!near(n.Longest, 2) || !near(n.Recent.P99, 2) || !near(n.Recent.Stalled, 2) {
			t.Errorf("totals %+v, want one waiting call of 2 s, and two candidates", n)
		}
		if len(s.Blocked) != 2 || s.Blocked[1].Kind != "election" || s.Blocked[1].Waiting != 2 || len(s.Waiting) != 3 {
			t.Errorf("blocked %+v, want the lock before the election", s.Blocked)
		}
		must(t, stock.Release(t.Context()))
		got := <-waiting
		must(t, got.err)
		must(t, got.lease.Release(t.Context()))
		for range 2 {
			must(t, term.Resign(t.Context()))
			term = <-won
		}
		must(t, term.Resign(t.Context()))
		s = stateOf(board)
		if len(s.Inflicted) != 1 || s.Inflicted[0].Resource != "stock" {
			t.Errorf("inflicted %+v, want nothing of the leader", s.Inflicted)
		}
		for _, slow := range s.Slowest {
			if slow.Resource == "leader" {
				t.Errorf("slowest has %+v", slow)
			}
		}
		for _, p := range s.Waits {
			if p.P99 > 3 {
				t.Errorf("point %+v has the time of a candidate", p)
			}
		}
		past := board.WaitHistory(time.Now().Add(-time.Hour), time.Now()).Resources
		if len(past) != 1 || past[0].Resource != "stock" {
			t.Errorf("samples of %+v, want nothing of the election", past)
		}
	})
}

// TestSetOnTheBoard: a caller that holds two locks of a set and waits for the third is one waiter, behind one row.
func TestSetOnTheBoard(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		l := newMemory(t, board, memlock.NewNodes(3), "orders/1")
		c := acquire(t, l, "c")
		sets := make(chan error, 1)
		go func() {
			set, err := lockset.Acquire(t.Context(), l, []string{"a", "b", "c"})
			if err == nil {
				err = set.Release(t.Context())
			}
			sets <- err
		}()
		settle(time.Second)
		behind := acquireAsync(c.Context(), l, "a", lock.MaxWait(2*time.Second))
		settle(time.Second)
		s := stateOf(board)
		for _, h := range s.Held {
			if (h.Kind == "set") != (h.Resource != "c") {
				t.Errorf("held %+v", h)
			}
		}
		at := slices.IndexFunc(s.Waiting, func(w state.Waiter) bool { return w.Resource == "c" })
		if len(s.Held) != 3 || len(s.Blocked) != 2 || s.Totals.Waiting != 2 || !slices.Equal(s.Waiting[at].Holds,
			[]string{"b", "a"}) {
			t.Errorf("%d held, blocked %+v, waiting %+v", len(s.Held), s.Blocked, s.Waiting)
		}
		if len(s.Deadlocks) != 1 || len(s.Deadlocks[0].Cycle) != 2 {
			t.Errorf("deadlocks %+v, want one, of a and c", s.Deadlocks)
		}
		<-behind
		must(t, c.Release(t.Context()))
		must(t, <-sets)
	})
}

// TestSemaphoreOnTheBoard: rows say how many of the slots are in use. A cycle through one slot is no deadlock while the
// other one's holder works.
func TestSemaphoreOnTheBoard(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board := newBoard(t)
		l, other := newMemory(t, board, memlock.NewNodes(1), "orders/1"), newMemory(t, board, memlock.NewNodes(1), "stock/1")
		first, second := acquire(t, l, "jobs#0", slotOf(2)), acquire(t, l, "jobs#1", slotOf(2))
		order := acquire(t, other, "order")
		for _, h := range stateOf(board).Held {
			if h.Resource != "order" && (h.Kind != "semaphore" || h.Slots != 2 || h.SlotsInUse != 2) {
				t.Errorf("held %+v", h)
			}
		}
		permit := acquireAsync(order.Context(), l, "jobs#0", slotOf(2))
		firstWaits := acquireAsync(first.Context(), other, "order", lock.MaxWait(10*time.Second))
		look := func() state.State { // two engines: their cycles are found by two looks
			settle(time.Second)
			stateOf(board)
			settle(time.Second)
			return stateOf(board)
		}
		s := look()
		if len(s.Deadlocks) != 0 || len(s.Blocked) != 2 {
			t.Errorf("deadlocks %+v, blocked %+v", s.Deadlocks, s.Blocked)
		}
		for _, b := range s.Blocked {
			if b.Deadlock || b.Resource == "jobs#0" && (b.Slots != 2 || b.SlotsInUse != 2) {
				t.Errorf("row %+v", b)
			}
		}
		past := board.WaitHistory(time.Now().Add(-time.Minute), time.Now()).Resources
		at := slices.IndexFunc(past, func(p state.PastResource) bool { return p.Resource == "jobs#0" })
		if at < 0 || past[at].Kind != "semaphore" || past[at].Slots != 2 {
			t.Errorf("history %+v", past)
		}
		secondWaits := acquireAsync(second.Context(), other, "order", lock.MaxWait(5*time.Second))
		if s = look(); len(s.Deadlocks) != 2 { // one through each slot
			t.Errorf("deadlocks %+v, want both cycles", s.Deadlocks)
		}
		<-secondWaits
		if s = look(); slices.ContainsFunc(s.Deadlocks, func(d state.Deadlock) bool { return !d.Over }) {
			t.Errorf("deadlocks %+v, want that they are over", s.Deadlocks)
		}
		must(t, second.Release(t.Context()))
		<-firstWaits
		must(t, first.Release(t.Context()))
		got := <-permit
		must(t, got.err)
		must(t, got.lease.Release(t.Context()))
		must(t, order.Release(t.Context()))
	})
}
