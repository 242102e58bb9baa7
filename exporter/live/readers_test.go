package live_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/memlock"
)

var (
	reads  = lock.InMode(lock.ModeRead)
	writes = lock.InMode(lock.ModeWrite)
)

// TestReadersOnTheBoard: two processes read, one waits to write behind the first of them, and a reader that came later
// waits behind the writer. Then a reader waits for what the writer's caller holds, which is a deadlock.
func TestReadersOnTheBoard(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, nodes := newBoard(t), memlock.NewNodes(3)
		a, b := newMemory(t, board, nodes, "orders/1"), newMemory(t, board, nodes, "stock/2")
		first := acquire(t, a, "prices", reads)
		settle(time.Second)
		second := acquire(t, b, "prices", reads)
		order := acquire(t, b, "order")
		writer := acquireAsync(order.Context(), b, "prices", writes, lock.MaxWait(time.Minute))
		settle(time.Second)
		reader := acquireAsync(t.Context(), a, "prices", reads, lock.MaxWait(time.Minute))
		settle(2 * time.Second)
		s := stateOf(board)
		if len(s.Blocked) != 1 {
			t.Fatalf("blocked %+v", s.Blocked)
		}
		r := s.Blocked[0]
		want := state.Reading{Readers: 2, ReadBy: []string{"orders/1", "stock/2"}, Writers: 1}
		if !reflect.DeepEqual(r.Reading, want) || r.Kind != "read" || r.Waiting != 2 || r.Deadlock || r.Holder == nil ||
			r.Holder.Holder != "orders/1" {
			t.Errorf("the row: %+v, holder %+v", r, r.Holder)
		}
		for _, w := range s.Waiting {
			// The nodes name no writer that waits: the reader waits for the hand-over.
			if b := w.Blocker; b == nil || b.HandedOver == (w.Instance == "stock/2") {
				t.Errorf("%s waits for %+v", w.Instance, b)
			}
		}
		stuck := acquireAsync(second.Context(), a, "order", lock.MaxWait(time.Minute))
		for range 2 { // two processes: two looks at the Board find it
			settle(time.Second)
			s = stateOf(board)
		}
		if len(s.Deadlocks) != 1 || len(s.Deadlocks[0].Cycle) != 2 || !s.Blocked[0].Deadlock {
			t.Errorf("deadlocks %+v, want that of the second reader and the order", s.Deadlocks)
		}
		must(t, order.Release(t.Context()))
		for _, lease := range []lock.Lease{first, second} {
			must(t, lease.Release(t.Context()))
		}
		for _, wait := range []<-chan acquisition{stuck, writer, reader} {
			if got := <-wait; got.err == nil {
				must(t, got.lease.Release(t.Context()))
			}
		}
	})
}

// TestWriterOnTheBoard: a writer that holds the lock is no reader of it.
func TestWriterOnTheBoard(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, nodes := newBoard(t), memlock.NewNodes(3)
		a, b := newMemory(t, board, nodes, "orders/1"), newMemory(t, board, nodes, "stock/2")
		lease := acquire(t, a, "prices", writes)
		reader := acquireAsync(t.Context(), b, "prices", reads, lock.MaxWait(time.Minute))
		settle(time.Second)
		s := stateOf(board)
		if r := s.Blocked[0]; r.Readers != 0 || r.ReadBy != nil || r.Writers != 0 || r.Kind != "write" {
			t.Errorf("behind a writer: %+v", r)
		}
		must(t, lease.Release(t.Context()))
		got := <-reader
		must(t, got.err)
		must(t, got.lease.Release(t.Context()))
	})
}

// TestReadingAgainOnTheBoard: without a writer, one who reads and asks to read again waits for nobody.
func TestReadingAgainOnTheBoard(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, nodes := newBoard(t), memlock.NewNodes(3)
		a := newMemory(t, board, nodes, "orders/1")
		lease := acquire(t, a, "prices", reads)
		nodes.NoQuorum()
		again := acquireAsync(lease.Context(), a, "prices", reads, lock.MaxWait(3*time.Second))
		settle(time.Second)
		if s := stateOf(board); len(s.Deadlocks) != 0 || s.Blocked[0].Deadlock || s.Blocked[0].Holder != nil {
			t.Errorf("a reader without a quorum: %+v, deadlocks %+v", s.Blocked, s.Deadlocks)
		}
		<-again
		nodes.Recover()
	})
}
