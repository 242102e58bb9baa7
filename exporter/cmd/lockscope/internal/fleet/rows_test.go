package fleet_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
)

// twoSets have a lock of the same name, and processes that call the sets by other names than ours.
func twoSets() []fleet.Set {
	now := time.Now()
	set := func(name, backend, page string) fleet.Set {
		says := &records.Waiting{Holder: lock.Holder{Instance: "p-" + name, Page: page, Since: now}, Callers: 2, Backend: backend}
		return fleet.Set{Name: name, Votes: fleet.Votes{Quorum: 1, Voting: 1}, Waits: &listing.Waits{Graph: waitgraph.New(),
			Locks: []listing.WaitedFor{{Resource: "order", Processes: 3, At: now, Queue: []stored.Queued{{ID: "1", Says: says}}}}}}
	}
	return []fleet.Set{set("eu", "redis-eu", "http://a/debug/locks"), set("us", "redis-us", "http://b/debug/locks")}
}

func page(url, resource, backend, class string, waiting int) fleet.Page {
	return fleet.Page{URL: url, Instance: "p", Read: time.Now(),
		Calls:    []fleet.Call{{Resource: resource, Backend: backend, For: 3, Class: class}},
		Counts:   []fleet.Count{{Resource: resource, Backend: backend, Waiting: waiting}},
		Turnover: []fleet.Turnover{{Resource: resource, Backend: backend, Rate: 5, HeldP99: 2 * time.Second}},
	}
}

// TestPagesAddClassesAndRates to the set that the process means.
func TestPagesAddClassesAndRates(t *testing.T) {
	rows := fleet.Rows(twoSets(), []fleet.Page{
		page("http://a/debug/locks", "order", "redis-eu", "holder", 9),
		page("http://b/debug/locks", "order", "redis-us", "\x1b[2J", 9),
		page("http://c/debug/locks", "order", "us", "backing_off", 1),
		page("http://d/debug/locks", "order", "etcd", "holder", 1),
	})
	if len(rows) != 3 || rows[2].Set != "etcd" || rows[2].Callers != 1 {
		t.Fatalf("%+v", rows)
	}
	eu, us := rows[0], rows[1]
	if eu.Waiters[0].Class != "holder" || us.Waiters[0].Class != "" || us.Waiters[1].Class != "backing_off" {
		t.Errorf("classes %q, %q and %q", eu.Waiters[0].Class, us.Waiters[0].Class, us.Waiters[1].Class)
	}
	if eu.Callers != 4 || eu.Unlisted != 2 || us.Callers != 5 || len(us.Waiters) != 2 || us.Longest != 3*time.Second {
		t.Errorf("eu %+v, us %+v", eu, us)
	}
	if *eu.Rate != 5 || *us.Rate != 10 || *us.HeldP99 != 2*time.Second {
		t.Errorf("rates %v and %v", *eu.Rate, *us.Rate)
	}
}

// TestQueuesAreBelieved: a page is old, so a wait behind a holder counts only where no queue can be read.
func TestQueuesAreBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		class, backend string
		down           bool
		set            string // that has the wait; empty: none
		of             string // the class of its row
	}{
		"ended meanwhile":      {"holder", "redis-eu", false, "", ""},
		"not known":            {"", "redis-eu", false, "", ""},
		"an attempt":           {"network", "redis-eu", false, "", ""},
		"cut off":              {"no_quorum", "redis-eu", false, "eu", ""},
		"no node to ask":       {"holder", "redis-eu", true, "eu", "no_quorum"},
		"nodes of others":      {"holder", "etcd", false, "etcd", "holder"},
		"the name of a set":    {"no_quorum", "us", false, "us", ""},
		"a class that is none": {"slow", "redis-eu", false, "", ""},
	} {
		sets := twoSets()
		if c.down {
			sets[0].Votes.Voting = 0
		}
		got := ""
		for _, r := range fleet.Rows(sets, []fleet.Page{page("http://a/debug/locks", "stock", c.backend, c.class, 4)}) {
			if r.Name == "stock" {
				got += r.Set
				if !r.OnlyPages || r.Callers != 4 || r.Processes != 1 || r.Class != c.of {
					t.Errorf("%s: %+v", name, r)
				}
			}
		}
		if got != c.set {
			t.Errorf("%s: in set %q, want %q", name, got, c.set)
		}
	}
}

// TestClassesOfCallers: the nodes' votes class those who say nothing themselves.
func TestClassesOfCallers(t *testing.T) {
	sets := twoSets()
	sets[0].Waits.Locks[0].Lock = &listing.Lock{Resource: "order", Nodes: 1, Of: 1}
	rows := fleet.Rows(sets, []fleet.Page{page("http://b/debug/locks", "order", "redis-us", "backing_off", 1)})
	if rows[0].Class != "holder" || rows[0].Waiters[0].Class != "holder" || rows[1].Class != "" ||
		rows[1].Waiters[0].Class != "backing_off" {
		t.Errorf("%+v", rows)
	}
}

// TestOneNameForTwoSets: services call both sets by the default name. Only its own place in a queue says which of them
// a process means.
func TestOneNameForTwoSets(t *testing.T) {
	const a, b, c = "http://a/debug/locks", "http://b/debug/locks", "http://c/debug/locks"
	for name, test := range map[string]struct {
		page, class string
		queued      [2]string // pages in the queues of eu and us
		euDown      bool
		set         string // of the wait; empty: none has it
	}{
		"eu has no quorum and no queue": {c, "no_quorum", [2]string{"", b}, true, "redis"},
		"a wait without a class":        {c, "", [2]string{"", b}, true, "redis"},
		"cut off from one of them":      {c, "no_quorum", [2]string{a, b}, false, "redis"},
		"ended meanwhile":               {c, "holder", [2]string{"", b}, false, ""},
		"in the queue of eu":            {a, "no_quorum", [2]string{a, b}, true, "eu"},
		"in the queue of us":            {b, "no_quorum", [2]string{a, b}, false, "us"},
		"in the queues of both":         {a, "no_quorum", [2]string{a, a}, true, "redis"},
	} {
		sets := twoSets()
		for i, url := range test.queued {
			says := sets[i].Waits.Locks[0].Queue[0].Says
			if says.Backend, says.Page = "redis", url; url == "" {
				sets[i].Waits.Locks = nil
			}
		}
		if test.euDown {
			sets[0].Votes.Voting = 0
		}
		got := ""
		for _, r := range fleet.Rows(sets, []fleet.Page{page(test.page, "stock", "redis", test.class, 40)}) {
			if r.Name == "stock" {
				got += r.Set
				if r.Callers != 40 || *r.Rate != 5 {
					t.Errorf("%s: %+v", name, r)
				}
			} else if r.Callers != 4 || r.Rate != nil {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if got != test.set {
			t.Errorf("%s: in set %q, want %q", name, got, test.set)
		}
	}
	sets := twoSets()
	sets[0].Waits, sets[1].Waits.Locks[0].Queue[0].Says.Backend = nil, "redis"
	rows := fleet.Rows(sets, []fleet.Page{page(c, "order", "redis", "no_quorum", 40)})
	if len(rows) != 2 || rows[0].Set != "us" || rows[0].Callers != 4 || rows[0].Rate != nil || rows[1].Set != "redis" {
		t.Errorf("callers of eu are in the row of us: %+v", rows)
	}
}
