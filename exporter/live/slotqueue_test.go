package live_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestPermitOnTheBoardHasItsSlot: calls wait for the semaphore. The board shows the slots that they got.
func TestPermitOnTheBoardHasItsSlot(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, nodes := newBoard(t), memlock.NewNodes(3)
		a, err := semaphore.New(newMemory(t, newBoard(t), nodes, "a"), "pool", 3)
		must(t, err)
		b, err := semaphore.New(newMemory(t, board, nodes, "b"), "pool", 3)
		must(t, err)
		var held []*semaphore.Permit
		for range 3 {
			p, err := a.Acquire(t.Context())
			must(t, err)
			held = append(held, p)
		}
		got := make(chan *semaphore.Permit, 3)
		for range 3 {
			go func() {
				p, err := b.Acquire(t.Context())
				if err != nil {
					t.Error(err)
				}
				got <- p
			}()
		}
		settle(time.Second)
		for _, p := range held {
			must(t, p.Release(t.Context()))
		}
		permits := []*semaphore.Permit{<-got, <-got, <-got}
		var names []string
		for _, h := range stateOf(board).Held {
			names = append(names, h.Resource)
		}
		slices.Sort(names)
		if !slices.Equal(names, []string{"pool#0", "pool#1", "pool#2"}) {
			t.Errorf("the board shows %q", names)
		}
		for _, p := range permits {
			must(t, p.Release(t.Context()))
		}
	})
}

// TestCallsForAnySlotOnTheBoard: calls that wait for a permit are one row of the semaphore, with a holder of a slot, and
// each held slot says how many calls wait for it. One slot is no exception.
func TestCallsForAnySlotOnTheBoard(t *testing.T) {
	for _, k := range []int{1, 3} {
		inBubble(t, func(t *testing.T) {
			board, nodes := newBoard(t), memlock.NewNodes(3)
			a, err := semaphore.New(newMemory(t, board, nodes, "a"), "pool", k)
			must(t, err)
			b, err := semaphore.New(newMemory(t, board, nodes, "b"), "pool", k)
			must(t, err)
			for range k {
				_, err := a.Acquire(t.Context())
				must(t, err)
			}
			for range 2 {
				go func() { _, _ = b.Acquire(t.Context()) }()
			}
			settle(3 * time.Second)
			s := stateOf(board)
			if len(s.Blocked) != 1 || len(s.Held) != k {
				t.Fatalf("%d rows, %d held", len(s.Blocked), len(s.Held))
			}
			row := s.Blocked[0]
			if row.Resource != "pool" || row.Kind != "semaphore" || row.Slots != k || row.SlotsInUse != k || row.Waiting != 2 ||
				row.Holder == nil || row.Holder.Holder != "a" || row.Holder.Fence == 0 {
				t.Errorf("%+v, held by %+v", row, row.Holder)
			}
			for _, h := range s.Held {
				if h.Waiters != 2 || h.SlotsInUse != k {
					t.Errorf("%+v", h)
				}
			}
		})
	}
}
