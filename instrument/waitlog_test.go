package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

const manyWaiters = 1000

// world is five servers in a bubble, with processes on them.
type world struct {
	servers []*locktest.FakeServer
}

func newWorld(t *testing.T) *world {
	w := new(world)
	for i := range 5 {
		f := locktest.NewFakeServer(fmt.Sprintf("redis%d", i))
		t.Cleanup(f.Close)
		w.servers = append(w.servers, f)
	}
	return w
}

func (w *world) process(t *testing.T, opts ...lock.Option) *engine.Engine {
	var nodes []driver.Node
	for i, f := range w.servers {
		nodes = append(nodes, engine.Async(f.Connect(uint64(i), locktest.Faults{})))
	}
	began := time.Now()
	e, err := engine.NewEngine(nodes, append(opts,
		engine.WithClock(func() time.Duration { return time.Since(began) }))...)
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e
}

// TestLongWaitSaysWhatItWaitsFor, with a thousand callers in the process: behind a holder of another process or of this
// one, and while four of five nodes are dead or hang.
func TestLongWaitSaysWhatItWaitsFor(t *testing.T) {
	fail := func(each func(*locktest.FakeServer)) func(*testing.T, *world, lock.Locker) {
		return func(_ *testing.T, w *world, _ lock.Locker) {
			for _, f := range w.servers[1:] {
				each(f)
			}
		}
	}
	for name, c := range map[string]struct {
		prepare func(*testing.T, *world, lock.Locker)
		want    map[string]any
	}{
		"holder": {func(t *testing.T, w *world, _ lock.Locker) {
			_, err := w.process(t, lock.WithInstance("billing/7")).Acquire(t.Context(), "job")
			must(t, err)
		}, map[string]any{"class": "holder", "blocker": "billing/7"}},
		"own lease": {func(t *testing.T, _ *world, l lock.Locker) {
			_, err := l.Acquire(t.Context(), "job")
			must(t, err)
		}, map[string]any{"class": "holder", "blocker": "this process"}},
		"dead": {fail((*locktest.FakeServer).Crash), map[string]any{"class": "no_quorum", "nodes": 5.0, "needed": 3.0}},
		"hung": {fail((*locktest.FakeServer).Pause), map[string]any{"class": "no_quorum", "nodes": 5.0, "needed": 3.0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, text := newWorld(t), new(logText)
				l := wrap(t, w.process(t), instrument.WithLogger(slog.New(slog.NewJSONHandler(text, nil))))
				c.prepare(t, w, l)
				var callers sync.WaitGroup
				for range manyWaiters {
					callers.Go(func() { _, _ = l.Acquire(t.Context(), "job", lock.MaxWait(9*time.Second)) })
				}
				time.Sleep(instrument.DefaultLongWait + time.Second)
				must(t, l.Flush(t.Context()))
				var found []map[string]any
				for _, r := range lines(t, text) {
					if r["msg"] == "still waiting for the lock" {
						found = append(found, r)
					}
				}
				if len(found) != 1 {
					t.Fatalf("%d records, want one: %v", len(found), text)
				}
				wantWait(t, found[0], c.want)
				callers.Wait()
				for _, f := range w.servers {
					f.Resume()
				}
			})
		})
	}
}

// wantWait fails unless a record of a long wait is complete.
func wantWait(t *testing.T, r map[string]any, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if r[key] != value {
			t.Errorf("%s is %v, want %v, in %v", key, r[key], value, r)
		}
	}
	if r["waiting"] != float64(manyWaiters) {
		t.Errorf("%v callers wait, want %d", r["waiting"], manyWaiters)
	}
	for _, key := range []string{"waited", "longest_wait"} {
		text, _ := r[key].(string)
		if d, err := time.ParseDuration(text); err != nil || d < instrument.DefaultLongWait {
			t.Errorf("%s is %v, want a duration of %v or more", key, r[key], instrument.DefaultLongWait)
		}
	}
	if r["class"] == "holder" {
		since, _ := r["blocker_since"].(string)
		if _, err := time.Parse(time.RFC3339Nano, since); err != nil {
			t.Errorf("held since %v", r["blocker_since"])
		}
	}
	wantSum(t, r)
}

// wantSum fails unless the record, if it names nodes, accounts for all of them.
func wantSum(t *testing.T, r map[string]any) {
	t.Helper()
	nodes, ok := r["nodes"].(float64)
	if !ok {
		return
	}
	sum := 0.0
	for _, key := range []string{"granted", "refused", "failed", "unheard", "not_asked"} {
		n, _ := r[key].(float64)
		sum += n
	}
	granted, _ := r["granted"].(float64)
	reasons, _ := r["reasons"].(map[string]any)
	if sum != nodes || r["class"] != "holder" && len(reasons) != int(nodes-granted) {
		t.Errorf("the nodes do not add up: %v", r)
	}
}

// TestNoQuorumAddsUp: the record of a failure accounts for each of five nodes.
func TestNoQuorumAddsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, text := newWorld(t), new(logText)
		l := wrap(t, w.process(t), instrument.WithLogger(slog.New(slog.NewJSONHandler(text, nil))))
		w.servers[0].Crash()
		w.servers[1].Crash()
		w.servers[2].Crash()
		w.servers[3].Pause()
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		if !errors.Is(err, lock.ErrNoQuorum) {
			t.Fatal(err)
		}
		must(t, l.Flush(t.Context()))
		all := lines(t, text)
		if len(all) != 1 || all[0]["nodes"] != 5.0 {
			t.Fatalf("records: %v", all)
		}
		wantSum(t, all[0])
		w.servers[3].Resume()
	})
}

// TestWaitsAreForgotten once no call waits, however the waits ended.
func TestWaitsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, text := newWorld(t), new(logText)
		l := wrap(t, w.process(t), instrument.WithLogger(slog.New(slog.NewJSONHandler(text, nil))))
		lease, err := l.Acquire(t.Context(), "job", lock.TTL(time.Minute))
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() { _, _ = l.Acquire(ctx, "job") })
		}
		time.Sleep(time.Second)
		cancel()
		callers.Wait()
		callers.Go(func() {
			next, err := l.Acquire(t.Context(), "job")
			must(t, err)
			must(t, next.Release(t.Context()))
		})
		time.Sleep(instrument.DefaultLongWait + time.Second)
		must(t, lease.Release(t.Context()))
		callers.Wait()
		must(t, l.Flush(t.Context()))
		all := lines(t, text)
		if len(all) != 1 || all[0]["waiting"] != 1.0 {
			t.Errorf("records: %v", all)
		}
	})
}

// TestEndlessWaitIsLoggedAgain after one, 5 and 30 minutes, and when it ends. A candidate of an election stands by: its
// wait is logged once.
func TestEndlessWaitIsLoggedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		kind lock.Kind
		want []string
	}{
		"lock":     {"", []string{"5s", "1m0s", "5m0s", "30m0s", "31m0s acquired"}},
		"election": {lock.KindElection, []string{"5s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, text := newWorld(t), new(logText)
				l := wrap(t, w.process(t), instrument.WithLogger(slog.New(slog.NewJSONHandler(text, nil))))
				kind := lock.OfKind(c.kind)
				held, err := w.process(t, lock.WithInstance("billing/7")).Acquire(t.Context(), "job", kind)
				must(t, err)
				time.AfterFunc(31*time.Minute, func() { must(t, held.Release(t.Context())) })
				lease, err := l.Acquire(t.Context(), "job", kind)
				must(t, err)
				must(t, lease.Release(t.Context()))
				must(t, l.Flush(t.Context()))
				var got []string
				for _, r := range lines(t, text) {
					waited, err := time.ParseDuration(fmt.Sprint(r["waited"]))
					must(t, err)
					told := waited.Truncate(time.Second).String()
					if r["msg"] != "still waiting for the lock" {
						told += fmt.Sprint(" ", r["outcome"])
					} else if r["blocker"] != "billing/7" {
						t.Errorf("the record does not name the holder: %v", r)
					}
					got = append(got, told)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("logged after %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestLeaseOnOtherNodesIsNoBlocker, though it has the same name and its decorator shares the registry.
func TestLeaseOnOtherNodesIsNoBlocker(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*testing.T, memlock.Nodes)
		class   string
		blocker any
	}{
		"holder": {func(t *testing.T, nodes memlock.Nodes) {
			_, billing := onNodes(t, nodes, "billing/2")
			_, err := billing.Acquire(t.Context(), "job")
			must(t, err)
		}, "holder", "billing/2"},
		"no quorum": {func(_ *testing.T, nodes memlock.Nodes) { nodes.NoQuorum() }, "no_quorum", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry, text := instrument.WithRegisterer(prometheus.NewRegistry()), new(logText)
				nodes := memlock.NewNodes(3)
				_, other := onNodes(t, memlock.NewNodes(3), "orders/1")
				_, next := onNodes(t, nodes, "orders/1")
				_, err := wrap(t, other, registry).Acquire(t.Context(), "job")
				must(t, err)
				c.prepare(t, nodes)
				l := wrap(t, next, registry, instrument.WithLogger(slog.New(slog.NewJSONHandler(text, nil))))
				_, _ = l.Acquire(t.Context(), "job", lock.MaxWait(instrument.DefaultLongWait+time.Second))
				must(t, l.Flush(t.Context()))
				nodes.Recover()
				told := slices.DeleteFunc(lines(t, text), func(r map[string]any) bool {
					return r["msg"] != "still waiting for the lock"
				})
				if len(told) != 1 || told[0]["class"] != c.class || told[0]["blocker"] != c.blocker {
					t.Errorf("want one record of class %s with the blocker %v, not %v", c.class, c.blocker, told)
				}
			})
		})
	}
}
