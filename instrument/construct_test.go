package instrument_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// fleet is processes on servers in memory, each with metrics of its own.
type fleet struct {
	t       *testing.T
	servers []*locktest.FakeServer
	began   time.Time
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{t: t, began: time.Now()}
	for i := range 3 {
		s := locktest.NewFakeServer(fmt.Sprintf("node%d", i+1))
		t.Cleanup(s.Close)
		f.servers = append(f.servers, s)
	}
	return f
}

func (f *fleet) engine() *engine.Engine {
	var nodes []driver.Node
	for i, s := range f.servers {
		nodes = append(nodes, engine.Async(s.Connect(uint64(i), locktest.Faults{})))
	}
	l, err := engine.NewEngine(nodes, lock.WithNodeTimeout(200*time.Millisecond),
		engine.WithClock(func() time.Duration { return time.Since(f.began) }))
	must(f.t, err)
	f.t.Cleanup(func() { _ = l.Close() })
	return l
}

func (f *fleet) process(opts ...instrument.Option) *instrument.Locker {
	return wrap(f.t, f.engine(), opts...)
}

// campaign runs until stop.
func (f *fleet) campaign(l lock.Locker, name string) (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = election.Run(ctx, l, name, func(ctx context.Context, _ election.Term) error {
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	synctest.Wait()
	return func() { cancel(); <-done }
}

// wantSeries compares series without their prefix and their labels with values; absent is below zero.
func wantSeries(t *testing.T, l *instrument.Locker, resource string, want map[string]float64) {
	t.Helper()
	for text, value := range want {
		var name, label, of string
		labels := []string{"resource", resource}
		if n, _ := fmt.Sscanf(text, "%s %s %s", &name, &label, &of); n == 3 {
			labels = append(labels, label, of)
		}
		got := gather(t, l, name, labels...)
		if find(t, l, name, labels...) == nil {
			got = -1
		}
		if got != value {
			t.Errorf("%s of %s is %v, want %v", text, resource, got, value)
		}
	}
}

// TestElection: who leads, since when and in which term; who else wants to.
func TestElection(t *testing.T) { synctest.Test(t, testElection) }

func testElection(t *testing.T) {
	f := newFleet(t)
	a, b := f.process(), f.process()
	since := time.Now()
	stop := f.campaign(a, "billing")
	defer f.campaign(b, "billing")()
	time.Sleep(time.Hour) // a term is long
	wantSeries(t, a, "billing", map[string]float64{
		"construct_held kind election": 1, "candidates leader seen": 0, "candidates leader none": 0,
		"term_since_timestamp_seconds": float64(since.UnixMicro()) / 1e6,
	})
	wantSeries(t, b, "billing", map[string]float64{
		"construct_held kind election": 0, "candidates leader seen": 1, "candidates leader none": 0,
		"candidates leader unknown": 0, "term": 0, "term_since_timestamp_seconds": 0,
	})
	first := gather(t, a, "term", "resource", "billing")
	stop()
	time.Sleep(time.Second)
	if ended := find(t, a, "construct_ended_total", "resource", "billing", "kind", "election", "end", "released"); ended.
		GetCounter().GetValue() != 1 {
		t.Errorf("the term that was resigned: %v", ended)
	}
	wantSeries(t, a, "billing", map[string]float64{"construct_held kind election": 0, "term": 0})
	wantSeries(t, b, "billing", map[string]float64{"construct_held kind election": 1, "candidates leader seen": 0})
	if second := gather(t, b, "term", "resource", "billing"); first == 0 || second <= first {
		t.Errorf("term %v after term %v", second, first)
	}
}

// TestVacancy: candidates report that nobody leads when the nodes are down, and between campaigns that found no quorum.
func TestVacancy(t *testing.T) { synctest.Test(t, testVacancy) }

func testVacancy(t *testing.T) {
	f := newFleet(t)
	a, b := f.process(), f.process()
	stopA, stopB := f.campaign(a, "billing"), f.campaign(b, "billing")
	for _, s := range f.servers[:2] {
		s.Crash()
	}
	time.Sleep(time.Minute)
	lost := find(t, a, "construct_ended_total", "resource", "billing", "kind", "election", "end", "lost")
	if lost.GetCounter().GetValue() != 1 {
		t.Errorf("the term that was lost: %v", lost)
	}
	wantSeries(t, b, "billing", map[string]float64{"candidates leader seen": 0, "candidates leader none": 1})
	for _, s := range f.servers[:2] {
		s.RestartEmpty(time.Hour) // in quarantine: Acquire does not wait
	}
	time.Sleep(20 * time.Second)
	for range 20 { // also between two campaigns
		time.Sleep(700 * time.Millisecond)
		wantSeries(t, b, "billing", map[string]float64{"construct_held kind election": 0, "candidates leader none": 1})
	}
	stopA()
	stopB()
	time.Sleep(11 * time.Second)
	wantSeries(t, b, "billing", map[string]float64{"candidates leader none": 0})
}

// TestNoLeaderHolds: a holder that is no candidate is no leader.
func TestNoLeaderHolds(t *testing.T) { synctest.Test(t, testNoLeaderHolds) }

func testNoLeaderHolds(t *testing.T) {
	f := newFleet(t)
	lease, err := f.engine().Acquire(t.Context(), "billing")
	must(t, err)
	l := f.process()
	defer f.campaign(l, "billing")()
	time.Sleep(10 * time.Second)
	wantSeries(t, l, "billing", map[string]float64{"candidates leader seen": 0, "candidates leader none": 1})
	must(t, lease.Release(t.Context()))
}

// suspended hands out leases whose validity has run out while their process did not run.
type suspended struct{ lock.Locker }

type expired struct{ lock.Lease }

func (expired) Remaining() time.Duration { return -time.Second }

func (s suspended) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	lease, err := s.Locker.Acquire(ctx, resource, opts...)
	return expired{lease}, err
}

// TestValidTermsOnly: a term is over when its validity is, although its process has not noticed.
func TestValidTermsOnly(t *testing.T) { synctest.Test(t, testValidTermsOnly) }

func testValidTermsOnly(t *testing.T) {
	f := newFleet(t)
	l := wrap(t, suspended{f.engine()})
	defer f.campaign(l, "billing")()
	wantSeries(t, l, "billing", map[string]float64{"construct_held kind election": 0, "term": 0, "held": 1})
}

// TestFoldedElections: under one label there are many terms, and no gauge can be about one of them.
func TestFoldedElections(t *testing.T) { synctest.Test(t, testFoldedElections) }

func testFoldedElections(t *testing.T) {
	f := newFleet(t)
	l := f.process(instrument.WithResources("shard:3"))
	for i := range 4 {
		defer f.campaign(l, fmt.Sprintf("shard:%d", i))()
	}
	wantSeries(t, l, "shard:*", map[string]float64{"construct_held kind election": 3, "term": -1,
		"term_since_timestamp_seconds": -1})
	if gather(t, l, "term", "resource", "shard:3") == 0 {
		t.Error("an election with a label of its own has no term")
	}
}

// TestWaitersHaveAKind: under one label, callers that wait for a lock, a slot and a term are told apart. Only the last of
// these is a candidate.
func TestWaitersHaveAKind(t *testing.T) { synctest.Test(t, testWaitersHaveAKind) }

func testWaitersHaveAKind(t *testing.T) {
	f := newFleet(t)
	holder, l := f.engine(), f.process()
	defer f.campaign(holder, "job:1")()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, kind := range map[string]lock.Kind{"job:2": lock.KindSemaphore, "job:3": ""} {
		of := locktest.AsConstruct(kind, 1)
		_, err := holder.Acquire(t.Context(), name, of)
		must(t, err)
		for range 2 {
			go func() { _, _ = l.Acquire(ctx, name, of) }()
		}
	}
	defer f.campaign(l, "job:1")()
	time.Sleep(time.Minute)
	wantSeries(t, l, "job:*", map[string]float64{"waiting": 5, "construct_waiting kind semaphore": 2,
		"construct_waiting kind election": 1, "construct_waiting kind read": -1, "candidates leader seen": 1,
		"candidates leader none": 0, "candidates leader unknown": 0})
	cancel()
	time.Sleep(time.Second)
	wantSeries(t, l, "job:*", map[string]float64{"waiting": 1, "construct_waiting kind semaphore": 0,
		"construct_waiting kind election": 1})
}

var slot = lock.Slots(3)

// TestSlots: all slots of a semaphore are one resource.
func TestSlots(t *testing.T) { synctest.Test(t, testSlots) }

func testSlots(t *testing.T) {
	l := newFleet(t).process(instrument.WithResources("pool"))
	var held []lock.Lease
	for _, name := range []string{"pool#0", "pool#2", "db:7#1", "db:7#2"} {
		lease, err := l.Acquire(t.Context(), name, slot)
		must(t, err)
		held = append(held, lease)
	}
	use(t, l, "pool#1") // a lock by itself
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { _, _ = l.Acquire(ctx, "pool#0", slot) }()
	synctest.Wait()
	wantSeries(t, l, "pool", map[string]float64{"construct_held kind semaphore": 2, "slots": 3, "held": 2, "waiting": 1,
		"candidates leader seen": -1, "term": -1})
	wantSeries(t, l, "db:*", map[string]float64{"construct_held kind semaphore": 2, "slots": -1})
	wantSeries(t, l, "pool#*", map[string]float64{"construct_held kind semaphore": -1, "wait_seconds": 1})
	for _, lease := range held {
		must(t, lease.Release(t.Context()))
	}
	cancel()
	synctest.Wait()
	wantSeries(t, l, "pool", map[string]float64{"construct_held kind semaphore": 0, "slots": 3})
}

// TestEnds: the label end has the cause, also for a Locker that is closed and a caller whose context ends.
func TestEnds(t *testing.T) { synctest.Test(t, testEnds) }

func testEnds(t *testing.T) {
	e := newFleet(t).engine()
	l := wrap(t, e)
	set := lock.OfKind(lock.KindSet)
	ctx, cancel := context.WithCancel(t.Context())
	for i, opts := range [][]lock.AcquireOption{{lock.MaxHold(time.Minute), lock.TTL(time.Second)}, nil} {
		_, err := l.Acquire(t.Context(), fmt.Sprint("set", i), append(opts, set)...)
		must(t, err)
	}
	_, err := l.Acquire(ctx, "set2", set)
	must(t, err)
	time.Sleep(2 * time.Minute)
	cancel()
	time.Sleep(time.Minute)
	must(t, e.Close())
	synctest.Wait()
	for i, end := range []string{"max_hold", "closed", "canceled"} {
		m := find(t, l, "construct_ended_total", "resource", fmt.Sprint("set", i), "kind", "set", "end", end)
		if m.GetCounter().GetValue() != 1 {
			t.Errorf("the lease that ended by %s: %v", end, m)
		}
	}
}

// TestLocksAloneHaveNoKind: a process without constructs has none of their series.
func TestLocksAloneHaveNoKind(t *testing.T) {
	l := wrap(t, inMemory(t))
	use(t, l, "billing")
	for _, f := range families(t, l) {
		switch f.GetName() {
		case "distributed_lock_construct_held", "distributed_lock_construct_waiting",
			"distributed_lock_construct_ended_total", "distributed_lock_candidates", "distributed_lock_term",
			"distributed_lock_term_since_timestamp_seconds", "distributed_lock_slots":
			t.Errorf("%s: %v", f.GetName(), f.Metric)
		}
	}
}
