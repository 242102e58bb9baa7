package election_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestRealNodesHang: on five redis-servers of which three hang, the leader stops, nobody leads, and once they answer
// again somebody does, in a later term.
func TestRealNodesHang(t *testing.T) {
	servers := locktest.Servers(t, 5)
	var urls []string
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
	}
	var mu sync.Mutex
	leading, last := 0, uint64(0)
	events := make(chan int, 100)
	lead := func(ctx context.Context, term election.Term) error {
		mu.Lock()
		if leading++; leading > 1 || term.Number() <= last {
			t.Errorf("%d lead, in term %d after %d", leading, term.Number(), last)
		}
		last = term.Number()
		mu.Unlock()
		events <- 1
		<-ctx.Done()
		mu.Lock()
		leading--
		mu.Unlock()
		events <- 0
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	var candidates sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		l, err := redlock.Open(urls, lock.WithInstance(name), lock.WithNodeTimeout(200*time.Millisecond),
			lock.WithMaxTTL(2*time.Second))
		must(t, err)
		defer func() { must(t, l.Close()) }()
		candidates.Go(func() {
			if err := election.Run(ctx, l, "billing", lead, election.TTL(2*time.Second)); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	want := func(what string, event int) {
		t.Helper()
		select {
		case got := <-events:
			if got != event {
				t.Errorf("%s: event %d, want %d", what, got, event)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: nothing happened", what)
		}
	}
	want("somebody leads", 1)
	for _, s := range servers[:3] {
		must(t, s.Pause())
	}
	want("the leader stops although no node answers", 0)
	for _, s := range servers[:3] {
		must(t, s.Resume())
	}
	want("somebody leads again", 1)
	cancel()
	candidates.Wait()
}
