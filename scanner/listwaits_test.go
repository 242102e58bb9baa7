package scanner_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
)

// TestWaitsWithoutAListing reads a queue and the lock behind it, says how much of the nodes was read, and does not take a reading that
// was cut short for one that found nothing.
func TestWaitsWithoutAListing(t *testing.T) {
	f := startNodes(t, 3)
	s := newScanner(t, f.clients)
	process := func(name string) *lock.Engine {
		l, err := redlock.New(f.clients, lock.WithInstance(name), redlock.WithRestartQuarantine(0))
		must(t, err)
		t.Cleanup(func() { must(t, l.Close()) })
		return l
	}
	holder, waiter := process("holder-1"), process("waiter-2")
	lease, err := holder.Acquire(within(t), "order", lock.TTL(time.Minute))
	must(t, err)
	defer func() { _ = lease.Release(context.Background()) }()
	ctx, giveUp := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = waiter.Acquire(ctx, "order")
	}()
	defer func() { giveUp(); <-done }()

	var w *scanner.Waits
	eventually(t, "the waiter says who it is", func() bool {
		w, err = s.Waits(within(t))
		must(t, err)
		return len(w.Locks) == 1 && len(w.Locks[0].Queue) == 1 && w.Locks[0].Queue[0].Says != nil
	})
	if l := w.Locks[0]; l.Resource != "order" || l.Lock == nil || l.Lock.Hold.Instance != "holder-1" || l.Queue[0].Says.Instance != "waiter-2" {
		t.Errorf("%+v", l)
	}
	if w.Read != 3 || w.Of != 3 {
		t.Errorf("read %d of %d nodes, want 3 of 3", w.Read, w.Of)
	}
	must(t, f.servers[2].Kill())
	if w, err = s.Waits(within(t)); asNode(t, err, f.servers[2].Addr()) == nil || w.Read != 2 || w.Of != 3 {
		t.Errorf("read %d of %d nodes: %v", w.Read, w.Of, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if w, err = s.Waits(ended); !errors.Is(err, context.Canceled) || w.Read != 0 {
		t.Errorf("ended context: read %d nodes: %v", w.Read, err)
	}
	must(t, s.Close())
	if w, err = s.Waits(within(t)); !errors.Is(err, scanner.ErrClosed) || w == nil {
		t.Errorf("closed: %v, %v", w, err)
	}
}
