package live_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestPermitOnTheBoardHasItsSlot: calls that wait for any slot ask for the same one. The board shows the slots that they
// got.
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
