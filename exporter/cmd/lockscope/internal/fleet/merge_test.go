package fleet_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
)

// TestAPageOfTwoSystems: a process waits for locks of one name on Redis, which serve reads, and on PostgreSQL.
func TestAPageOfTwoSystems(t *testing.T) {
	now := time.Now()
	const url = "http://10.0.0.7:9090/debug/locks"
	call := func(backend, site string) fleet.Call {
		return fleet.Call{Resource: "order:1", Backend: backend, CallSite: site, For: 3}
	}
	pages := []fleet.Page{{
		URL: url, Instance: "orders/1", Read: now,
		Calls: []fleet.Call{call("redis", "old.go:1"), call("postgresql", "new.go:1")},
		Counts: []fleet.Count{
			{Resource: "order:1", Backend: "postgresql", Waiting: 7}, {Resource: "order:1", Backend: "redis", Waiting: 4},
		},
	}}
	queued := func(says *records.Waiting) *listing.Waits {
		return &listing.Waits{Graph: waitgraph.New(), Locks: []listing.WaitedFor{{
			Resource: "order:1", Processes: 1, At: now,
			Queue: []stored.Queued{{ID: "1", Since: now.Add(-3 * time.Second), Says: says}},
		}}}
	}
	of := lock.Holder{Instance: "orders/1", Page: url, Since: now.Add(-3 * time.Second)}
	for name, c := range map[string]struct {
		waits            *listing.Waits
		onRedis, waiters int // calls and rows of the lock on nodes that are read
	}{
		"its queue entry names the nodes": {queued(&records.Waiting{Holder: of, Callers: 2, Backend: "redis"}), 2, 1},
		"it has not said who it is":       {queued(nil), 5, 2},
		"no node has heard of it":         {nil, 4, 1},
	} {
		d := fleet.Merge([]fleet.Set{{Waits: c.waits}}, pages, now)
		var onRedis, elsewhere int
		for _, r := range d.Resources {
			for _, w := range r.Waiters {
				for _, call := range w.Calls {
					if (r.Backend == "postgresql") != (call.Backend == "postgresql") {
						t.Errorf("%s: among those who wait on %q: %+v", name, r.Backend, call)
					}
				}
			}
			switch {
			case r.Backend == "postgresql" && r.OnlyPages:
				elsewhere += r.Waiting
			case r.Backend == "" && len(r.Waiters) == c.waiters:
				onRedis += r.Waiting
			}
		}
		if onRedis != c.onRedis || elsewhere != 7 {
			t.Errorf("%s: %d wait on Redis, want %d, and %d elsewhere, want 7: %+v", name, onRedis, c.onRedis,
				elsewhere, d.Resources)
		}
	}
}

// TestConstructs: an election shows its term, the slots of a semaphore are one row with their holders, and a row that
// only pages know says what its page says.
func TestConstructs(t *testing.T) {
	now := time.Now()
	slot := func(n int, instance string) listing.Lock {
		return listing.Lock{Resource: records.SlotName("jobs", n), Key: records.SlotName("lock:jobs", n), Nodes: 3, Of: 3,
			Hold: inspect.Hold{Fence: 9, Holder: lock.Holder{Instance: instance, Kind: lock.KindSemaphore, Slots: 3}}}
	}
	queue := func(waited time.Duration, of lock.Holder) []stored.Queued {
		of.Instance, of.Since = "w", now.Add(-waited)
		return []stored.Queued{{Since: of.Since, Says: &records.Waiting{Holder: of, Callers: 2, Backend: "redis"}}}
	}
	permit := lock.Holder{Kind: lock.KindSemaphore, Slots: 3}
	first, second := slot(0, "a"), slot(2, "b")
	leader := listing.Lock{Resource: "leader", Nodes: 3, Of: 3, Hold: inspect.Hold{Fence: 17, Holder: lock.Holder{
		Instance: "a", Kind: lock.KindElection}}}
	waits := &listing.Waits{Graph: waitgraph.New(), Locks: []listing.WaitedFor{
		{Resource: "jobs#2", Key: "lock:jobs#2", Processes: 1, At: now, Lock: &second, Queue: queue(time.Second, permit),
			Slots: []listing.Lock{first, second}},
		{Resource: "jobs#*", Key: "lock:jobs#*", Processes: 1, At: now, Queue: queue(time.Second, permit)},
		{Resource: "leader", Key: "lock:leader", Processes: 1, At: now, Lock: &leader, Queue: queue(time.Hour, lock.Holder{})},
		{Resource: "jobs#0", Key: "lock:jobs#0", Processes: 1, At: now, Lock: &first, Queue: queue(time.Minute, permit),
			Slots: []listing.Lock{first, second}},
	}}
	pages := []fleet.Page{{URL: "http://10.0.0.7:9090/debug/locks", Instance: "p", Read: now, Counts: []fleet.Count{
		{Resource: "pool#1", Backend: "pg", Waiting: 1, Kind: lock.KindSemaphore, Slots: 8},
	}}}
	d := fleet.Merge([]fleet.Set{{Waits: waits}}, pages, now)
	rows := make(map[string]fleet.Resource)
	for _, r := range d.Resources {
		rows[r.Resource] = r
	}
	if last := d.Resources[len(d.Resources)-1]; last.Resource != "leader" || len(d.Resources) != 3 || len(rows) != 3 {
		t.Fatalf("%+v", d.Resources)
	}
	if r := rows["leader"]; r.Kind != lock.KindElection || r.Holder.Fence != 17 || r.Taken != nil {
		t.Errorf("%+v", r)
	}
	if r := rows["jobs"]; r.Kind != lock.KindSemaphore || r.Slots != 3 || r.SlotsInUse == nil || *r.SlotsInUse != 2 ||
		len(r.Taken) != 2 || r.Taken[0].Slot != 0 || r.Taken[1].Holder.Instance != "b" || r.Holder != nil ||
		r.Waiting != 6 || r.Processes != 3 || r.Longest != 60 || r.Waiters[0].Waited != 60 {
		t.Errorf("%+v", r)
	}
	if r := rows["pool"]; r.Kind != lock.KindSemaphore || r.Slots != 8 || r.SlotsInUse != nil || !r.OnlyPages {
		t.Errorf("%+v", r)
	}
}

// TestDeadlocksNameProcesses: who holds what and waits for what, without quotes that the page would quote again.
func TestDeadlocksNameProcesses(t *testing.T) {
	now := time.Now()
	of := func(resource, holder, waiter, waiterHolds string) waitgraph.Resource {
		return waitgraph.Resource{Name: resource, Lease: &waitgraph.Lease{Fence: 7, Holder: lock.Holder{Instance: holder}},
			Waiters: []records.Waiting{{Holder: lock.Holder{Instance: waiter, Since: now}, Callers: 1,
				Holds: []lock.HeldLease{{Resource: waiterHolds, Fence: 7}}}}}
	}
	w := &listing.Waits{Graph: waitgraph.New(of("stock", "stock-2", "orders-1", "order"),
		of("order", "orders-1", "stock-2", "stock"))}
	w.Deadlocks = w.Graph.Cycles()
	d := fleet.Merge([]fleet.Set{{Waits: w}}, nil, now)
	if want := "orders-1 holds order and waits for stock; stock-2 holds stock and waits for order"; len(d.Deadlocks) != 1 ||
		d.Deadlocks[0] != want {
		t.Errorf("%q, want %q", d.Deadlocks, want)
	}
}

// TestUnnamedHolder: the holder of a leaked lock is known to hold it, without a name. An attempt on one of three nodes
// holds nothing.
func TestUnnamedHolder(t *testing.T) {
	now := time.Now()
	d := fleet.Merge([]fleet.Set{{Waits: &listing.Waits{Graph: waitgraph.New(), Locks: []listing.WaitedFor{
		{Resource: "legacy", Processes: 1, At: now, Lock: &listing.Lock{Resource: "legacy", Nodes: 1, Of: 1, TTL: -1}},
		{Resource: "order", Processes: 1, At: now, Lock: &listing.Lock{Resource: "order", Nodes: 1, Of: 3,
			Hold: inspect.Hold{Holder: lock.Holder{Instance: "a"}}}},
	}}}}, nil, now)
	if h := d.Resources[1].Holder; h != nil {
		t.Errorf("a minority is a holder: %+v", h)
	}
	if h := d.Resources[0].Holder; h == nil || h.Instance != "" || !h.Never {
		t.Errorf("%+v", h)
	}
}

// TestReadersInTheFleet: a lock that is read has its readers in place of one holder, and counts waiting writers.
func TestReadersInTheFleet(t *testing.T) {
	now := time.Now()
	reader := func(instance string) listing.Reader {
		return listing.Reader{Nodes: 3, TTL: time.Second, Hold: inspect.Hold{Fence: 7,
			Holder: lock.Holder{Instance: instance, Kind: lock.KindRead}}}
	}
	prices := listing.Lock{Resource: "prices", Of: 3}
	prices.SetReaders([]listing.Reader{reader("a"), reader("b")})
	says := &records.Waiting{Holder: lock.Holder{Instance: "w", Since: now, Kind: lock.KindWrite}, Callers: 1}
	d := fleet.Merge([]fleet.Set{{Waits: &listing.Waits{Graph: waitgraph.New(), Locks: []listing.WaitedFor{{Resource: "prices", Processes: 1,
		At: now, Lock: &prices, Queue: []stored.Queued{{Since: now, Says: says}}}}}}}, nil, now)
	if r := d.Resources[0]; r.Kind != lock.KindRead || r.Readers != 2 || len(r.ReadBy) != 2 || r.Holder != nil ||
		r.ReadBy[1].Instance != "b" || r.Writers != 1 {
		t.Errorf("%+v", r)
	}
}

// TestUnknownWait: a plain Mutex of etcd does not say since when it waits, which is no wait of centuries.
func TestUnknownWait(t *testing.T) {
	now := time.Now()
	d := fleet.Merge([]fleet.Set{{Waits: &listing.Waits{Graph: waitgraph.New(), Locks: []listing.WaitedFor{{
		Resource: "order:1", Processes: 1, At: now, Queue: []stored.Queued{{ID: "1"}},
	}}}}}, nil, now)
	if r := d.Resources[0]; r.Longest != 0 || r.Waiting != 1 || r.Waiters[0].Waited != 0 {
		t.Errorf("%+v", r)
	}
}
