package scanner

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// Snapshot is what a collector of metrics needs. Its counters never decrease while the Scanner lives.
type Snapshot struct {
	Last  report.Report // the last sweep that was not a standby; zero before the first
	Nodes []NodeTotals  // by name, without masters that have left their cluster
	// at its last turn, the loop left the sweep to another process: Last and Nodes are of an earlier sweep
	Standby bool
	// Undecided is why the loop could not tell at its last turn which process is to sweep; nil if it could. Such a
	// process stands by for some intervals and then sweeps.
	Undecided error
	// MemoryFailures counts the errors of the store of [WithMemory]: what it could not load or save.
	MemoryFailures uint64
}

// NodeTotals adds up all sweeps of one node.
type NodeTotals struct {
	Node         string
	Backend      string // as in [report.Finding]
	Group        string // of [WithGroup]
	Quorum       int    // as in [report.NodeReport]
	Standby      bool   // of a Scanner that stands by while others do not: see MergeSnapshots
	Up           bool   // the last sweep reached the node
	Locks        int64
	Leaked       int // no_ttl, as in Counts
	Overlong     int // long_ttl, as in Counts
	Counts       map[inspect.Class]int
	OldestLeak   time.Duration // since the oldest confirmed no_ttl finding was first seen; zero: none
	LastSuccess  time.Time     // end of the last complete sweep; zero before it
	Passes       uint64
	PassFailures uint64
	Examined     uint64
	Calls        uint64
	Truncated    bool
	Durations    Durations
}

// Durations is a histogram of sweep durations.
type Durations struct {
	Count   uint64
	Sum     time.Duration
	Buckets map[float64]uint64 // cumulative counts by upper bound in seconds
}

// durationBuckets are upper bounds in seconds.
func durationBuckets() []float64 { return []float64{.01, .1, .5, 1, 5, 15, 60, 300} }

// totals adds up the sweeps.
type totals struct {
	mu        sync.Mutex
	last      report.Report
	standby   bool
	undecided error
	forgotten uint64
	nodes     map[string]NodeTotals
}

// add takes a report that nobody changes any more.
func (t *totals) add(r *report.Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.standby = r.Standby
	if r.Standby {
		return
	}
	t.last = *r
	if t.nodes == nil {
		t.nodes = make(map[string]NodeTotals)
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		t.nodes[n.Node] = t.nodes[n.Node].after(n, r)
	}
}

// elect records why the process that is to sweep is unknown.
func (t *totals) elect(undecided error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.undecided = undecided
}

// forget counts an error of the store.
func (t *totals) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgotten++
}

// after returns the totals after one more sweep of the node.
func (t NodeTotals) after(n *report.NodeReport, r *report.Report) NodeTotals {
	end := r.Started.Add(r.Took)
	t.Node, t.Backend, t.Group, t.Quorum = n.Node, n.Backend, n.Group, n.Quorum
	t.Up, t.Truncated = n.Err == nil, n.Truncated || n.Overflow > 0
	t.Counts = maps.Clone(n.Counts)
	t.Leaked, t.Overlong = n.Counts[inspect.NoTTL], n.Counts[inspect.LongTTL]
	t.OldestLeak = 0
	for _, f := range r.Findings {
		if f.Node == n.Node && f.Class == inspect.NoTTL {
			t.OldestLeak = max(t.OldestLeak, end.Sub(f.FirstSeen))
		}
	}
	t.Passes++
	if n.Err != nil {
		t.PassFailures++
	} else if !n.Truncated {
		t.LastSuccess = end
		if n.Path != report.PathShortcut {
			t.Locks = n.Locks
		}
	}
	t.Examined += uint64(n.Examined)
	t.Calls += uint64(n.Calls)
	t.Durations = t.Durations.after(n.Took)
	return t
}

func (d Durations) after(took time.Duration) Durations {
	d.Count++
	d.Sum += took
	buckets := make(map[float64]uint64, len(d.Buckets))
	for _, bound := range durationBuckets() {
		buckets[bound] = d.Buckets[bound]
		if took.Seconds() <= bound {
			buckets[bound]++
		}
	}
	d.Buckets = buckets
	return d
}

// drop forgets nodes that no longer exist.
func (t *totals) drop(gone func(node string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.nodes, func(node string, _ NodeTotals) bool { return gone(node) })
}

func (t *totals) snapshot() Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	nodes := slices.SortedFunc(maps.Values(t.nodes),
		func(a, b NodeTotals) int { return strings.Compare(a.Node, b.Node) })
	return Snapshot{
		Last: t.last, Nodes: nodes, Standby: t.standby, Undecided: t.undecided, MemoryFailures: t.forgotten,
	}
}

// MergeSnapshots combines the snapshots of several Scanners for one collector. If two nodes have the same name, the
// collector takes the first.
func MergeSnapshots(snapshots ...Snapshot) Snapshot {
	if len(snapshots) == 1 {
		return snapshots[0]
	}
	all := Snapshot{Standby: len(snapshots) > 0}
	var reports []report.Report
	for _, s := range snapshots {
		all.Standby = all.Standby && s.Standby
		for _, n := range s.Nodes {
			n.Standby = s.Standby
			all.Nodes = append(all.Nodes, n)
		}
		if !s.Standby { // else it is not its own any more
			reports = append(reports, s.Last)
		}
		all.Undecided = errors.Join(all.Undecided, s.Undecided)
		all.MemoryFailures += s.MemoryFailures
	}
	slices.SortStableFunc(all.Nodes, func(a, b NodeTotals) int { return cmp.Compare(a.Node, b.Node) })
	all.Last = report.Merge(reports...)
	return all
}
