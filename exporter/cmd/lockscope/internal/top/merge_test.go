package top

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// twoSets have a lock of the same name, and processes that call the sets by other names than ours.
func twoSets() *screen.Snapshot {
	set := func(name, backend, page string) screen.Set {
		return screen.Set{Name: name, Nodes: []screen.Node{{State: state.NodeUp}}, Resources: []screen.Resource{{
			Set: name, Name: "order", Callers: 2, Processes: 1, Waiters: []screen.Waiter{
				{Instance: "p-" + name, Callers: 2, Page: page, Backend: backend},
			},
		}}}
	}
	return &screen.Snapshot{Sets: []screen.Set{set("eu", "redis-eu", "http://a/debug/locks"),
		set("us", "redis-us", "http://b/debug/locks")}}
}

func page(url, resource, backend, class string, waiting int) fleet.Page {
	return fleet.Page{URL: url, Instance: "p", Read: time.Now(),
		Calls:    []fleet.Call{{Resource: resource, Backend: backend, For: 3, Class: class}},
		Counts:   []fleet.Count{{Resource: resource, Backend: backend, Waiting: waiting}},
		Turnover: []fleet.Turnover{{Resource: resource, Backend: backend, Rate: 5, HeldP99: 2 * time.Second}},
	}
}

// TestMergeAddsClassesAndRates to the set that the process means.
func TestMergeAddsClassesAndRates(t *testing.T) {
	s := twoSets()
	merge(s, []fleet.Page{
		page("http://a/debug/locks", "order", "redis-eu", "holder", 9),
		page("http://b/debug/locks", "order", "redis-us", "\x1b[2J", 9),
		page("http://c/debug/locks", "order", "redis-us", "backing_off", 1),
	})
	eu, us := s.Sets[0].Resources[0], s.Sets[1].Resources[0]
	if eu.Waiters[0].Class != "holder" || us.Waiters[0].Class != "" {
		t.Errorf("classes %q and %q", eu.Waiters[0].Class, us.Waiters[0].Class)
	}
	if eu.Callers != 2 || us.Callers != 3 || len(us.Waiters) != 2 || us.Longest != 3*time.Second {
		t.Errorf("eu %+v, us %+v", eu, us)
	}
	if *eu.Rate != 5 || *us.Rate != 10 || *us.HeldP99 != 2*time.Second {
		t.Errorf("rates %v and %v", *eu.Rate, *us.Rate)
	}
}

// TestMergeBelievesQueues: a page is old, so a wait behind a holder counts only where no queue can be read.
func TestMergeBelievesQueues(t *testing.T) {
	for name, c := range map[string]struct {
		class, backend string
		down           bool
		set            string // that has the wait; empty: none
	}{
		"ended meanwhile":      {"holder", "redis-eu", false, ""},
		"not known":            {"", "redis-eu", false, ""},
		"an attempt":           {"network", "redis-eu", false, ""},
		"cut off":              {"no_quorum", "redis-eu", false, "eu"},
		"no node to ask":       {"holder", "redis-eu", true, "eu"},
		"nodes of others":      {"holder", "etcd", false, "etcd"},
		"the name of a set":    {"no_quorum", "us", false, "us"},
		"a class that is none": {"slow", "redis-eu", false, ""},
	} {
		s := twoSets()
		if c.down {
			s.Sets[0].Nodes[0].State = state.NodeDown
		}
		merge(s, []fleet.Page{page("http://c/debug/locks", "stock", c.backend, c.class, 4)})
		got := ""
		for i := range s.Sets {
			for _, r := range s.Sets[i].Resources {
				if r.Name == "stock" {
					got += s.Sets[i].Name
					if !r.OnlyPages || r.Callers != 4 || r.Processes != 1 || r.Set != s.Sets[i].Name {
						t.Errorf("%s: %+v", name, r)
					}
				}
			}
		}
		if got != c.set {
			t.Errorf("%s: in set %q, want %q", name, got, c.set)
		}
	}
}
