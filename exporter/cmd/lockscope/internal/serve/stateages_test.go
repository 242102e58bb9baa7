package serve

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
)

// oneReading is a scanner that read the nodes at one moment: a process waits for a held lock.
type oneReading struct {
	held, waits time.Duration // so far, at the reading
	pass        time.Duration // between reading a lock and reading its waiters
}

func (oneReading) Snapshot() scanner.Snapshot { return scanner.Snapshot{} }

func (oneReading) Waits(context.Context) []part { return []part{{}} }

func (r oneReading) List(context.Context, listing.Options) []part {
	started := time.Now()
	l := listing.Lock{
		Key: "lock:order", Resource: "order", Nodes: 3, Of: 3, TTL: 2 * time.Second, At: started,
		Hold: inspect.Hold{Format: inspect.FormatLockscope,
			Holder: lock.Holder{Instance: "orders-1", Since: started.Add(-r.held)}},
	}
	time.Sleep(r.pass)
	now := time.Now()
	says := records.Waiting{Holder: lock.Holder{Instance: "stock-2", Since: now.Add(-r.waits)}, Callers: 1}
	again := l
	again.At = now
	again.TTL -= r.pass
	return []part{{Listing: listing.Listing{
		Started: started, Locks: []listing.Lock{l},
		Waits: &listing.Waits{
			At: now, Read: 3, Of: 3, Graph: waitgraph.New(),
			Locks: []listing.WaitedFor{{
				Key: "lock:order", Resource: "order", At: now, Lock: &again, Processes: 1, Callers: 1,
				Queue: []stored.Queued{{ID: "1", Since: says.Since, Says: &says}},
			}},
		},
	}}}
}

// TestThePageTellsAgesOfWhenItWasRead: a caller had waited 20 ms at the reading. Four seconds later the page must not
// say that it has waited four seconds, nor that the lock has expired: it may have been renewed.
func TestThePageTellsAgesOfWhenItWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneReading{held: 7 * time.Second, waits: 20 * time.Millisecond, pass: 100 * time.Millisecond}
		s := newStateView(r, newPings(guard.Config{}), newBlocking(slog.New(slog.NewTextHandler(io.Discard, nil))))
		ctx, stop := context.WithCancel(t.Context())
		var looping sync.WaitGroup
		looping.Go(func() { s.loop(ctx) })
		defer looping.Wait()
		defer stop()
		for later := range 5 {
			now := s.State(ctx)
			if len(now.Held) != 1 || len(now.Waiting) != 1 || len(now.Blocked) != 1 {
				t.Fatalf("%d s later: %+v", later, now)
			}
			h, w, b := now.Held[0], now.Waiting[0], now.Blocked[0]
			if h.Age != 7 || h.Validity == nil || *h.Validity != 2 || w.For != .02 || b.Longest != .02 ||
				*b.Holder.Age != 7.1 || *b.Holder.Remaining != 1.9 {
				t.Errorf("%d s later: held %+v, waits %+v, blocked %+v by %+v", later, h, w, b, b.Holder)
			}
			if now.Read == nil || *now.Read != float64(later) || !now.At.Equal(time.Now()) {
				t.Errorf("%d s later it says that it was read %v ago, at %v", later, now.Read, now.At)
			}
			time.Sleep(time.Second)
		}
		if got := s.blocking.WaitTotals().Longest; got != 20*time.Millisecond {
			t.Errorf("the metric's longest wait is %v", got)
		}
	})
}

// slowReading is a scanner whose later listings take long.
type slowReading struct {
	oneReading
	takes *atomic.Int64
}

func (r slowReading) List(ctx context.Context, o listing.Options) []part {
	time.Sleep(time.Duration(r.takes.Load()))
	return r.oneReading.List(ctx, o)
}

// TestThePageIsFresh: after minutes without a request the first one gets a new reading, unless that takes longer than a
// second. What a look at the waiters found since then counts, too.
func TestThePageIsFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := slowReading{oneReading{held: time.Second, waits: time.Second, pass: 10 * time.Millisecond}, new(atomic.Int64)}
		s := newStateView(r, newPings(guard.Config{}), newBlocking(slog.New(slog.NewTextHandler(io.Discard, nil))))
		ctx, stop := context.WithCancel(t.Context())
		var looping sync.WaitGroup
		looping.Go(func() { s.loop(ctx) })
		defer looping.Wait()
		defer stop()
		s.State(ctx)
		time.Sleep(455 * time.Second)
		if got := s.State(ctx); got.Read == nil || *got.Read > 1 {
			t.Errorf("the first request after minutes shows what was read %v s ago", *got.Read)
		}

		time.Sleep(10 * time.Second)
		look := r.oneReading.List(ctx, listing.Options{})
		look[0].Waits.Deadlocks = []lock.DeadlockError{{Cycle: []lock.HeldLease{{Resource: "order"}, {Resource: "stock"}}}}
		s.blocking.observe(ctx, look, time.Now())
		r.takes.Store(int64(time.Minute))
		began := time.Now()
		got := s.State(ctx)
		if took := time.Since(began); took != time.Second || *got.Read < 11 || *got.Read > 12 {
			t.Errorf("while a reading takes long: after %v, read %v s ago, want after 1s, 11 s ago", took, *got.Read)
		}
		if len(got.Deadlocks) != 1 {
			t.Errorf("%d deadlocks, want the one that was logged", len(got.Deadlocks))
		}
	})
}

// TestVotesAreNoOlderThanTheirQuestion: the listing of many keys is minutes old when a set loses its quorum.
func TestVotesAreNoOlderThanTheirQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPings(guard.Config{})
		s := newStateView(oneReading{}, p, newBlocking(slog.New(slog.NewTextHandler(io.Discard, nil))))
		s.parts, s.listed, s.reading = oneReading{}.List(t.Context(), listing.Options{}), time.Now(), time.Hour
		for class, votes := range map[string]fleet.Votes{"holder": {Quorum: 2, Voting: 3}, "no_quorum": {Quorum: 2, Voting: 1}} {
			p.votes = map[string]fleet.Votes{"": votes}
			if got := s.State(t.Context()).Waiting; len(got) != 1 || got[0].Class != class {
				t.Errorf("%+v: %+v, want the class %s", votes, got, class)
			}
		}
	})
}

// TestServeAgesNoWaitThatIsOver on real servers: a wait ends between two readings. Until the next reading the page
// still shows it, but never with a longer time than it lasted.
func TestServeAgesNoWaitThatIsOver(t *testing.T) {
	servers := locktest.Servers(t, 3)
	holds, waits := cmdtest.LockingProcess(t, "orders-1", servers), cmdtest.LockingProcess(t, "stock-2", servers)
	url, _ := serving(t, "--redis", cmdtest.Addrs(servers...), "--waits-every", "0")
	before := time.Now()
	lease, err := holds.Acquire(t.Context(), "order", lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	began := time.Now()
	done := make(chan error, 1)
	go func() {
		next, err := waits.Acquire(t.Context(), "order")
		if err == nil {
			err = next.Release(t.Context())
		}
		done <- err
	}()
	var s state.State
	cmdtest.Eventually(t, "it shows who waits", func() bool { s = stateOf(t, url); return len(s.Blocked) == 1 })
	cmdtest.Must(t, lease.Release(t.Context()))
	cmdtest.Must(t, <-done)
	held, took := time.Since(before).Seconds(), time.Since(began).Seconds()
	looks := 0
	cmdtest.Eventually(t, "the next reading shows that nobody waits", func() bool {
		s = stateOf(t, url)
		if len(s.Blocked) == 0 {
			return true
		}
		looks++
		if s.Totals.Longest > took || s.Blocked[0].Longest > took || s.Waiting[0].For > took ||
			*s.Blocked[0].Holder.Age > held {
			t.Fatalf("the wait took %v s; the page says %+v, held for %v", took, s.Totals, *s.Blocked[0].Holder.Age)
		}
		return false
	})
	if looks == 0 || s.Read == nil {
		t.Errorf("%d looks at the reading before, the last one read %v ago", looks, s.Read)
	}
}

func stateOf(t *testing.T, url string) (s state.State) {
	t.Helper()
	resp, err := http.Get(url + "/debug/locks?format=json")
	cmdtest.Must(t, err)
	defer resp.Body.Close()
	cmdtest.Must(t, json.NewDecoder(resp.Body).Decode(&s))
	return s
}
