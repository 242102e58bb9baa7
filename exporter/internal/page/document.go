package page

import (
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/scanner"
)

// document is what is served as JSON and in events.
type document struct {
	live.State
	Scan *scan `json:"scan"`
}

type scan struct {
	Started  *time.Time `json:"started"`
	Took     float64    `json:"took_seconds"`
	Standby  bool       `json:"standby"`
	Overflow int        `json:"overflow"`
	Resolved int        `json:"resolved"`
	Nodes    []scanNode `json:"nodes"`
	Findings []finding  `json:"findings"`
}

type scanNode struct {
	Node      string `json:"node"`
	Locks     int64  `json:"locks"`
	Examined  int64  `json:"examined"`
	Truncated bool   `json:"truncated"`
	Error     string `json:"error,omitempty"`
}

type finding struct {
	Class     scanner.Class  `json:"class"`
	Node      string         `json:"node"`
	Key       string         `json:"key"`
	Type      string         `json:"type"`
	TTL       *float64       `json:"ttl_seconds"`
	Holder    string         `json:"holder"`
	Format    scanner.Format `json:"format"`
	Evidence  string         `json:"evidence"`
	FirstSeen time.Time      `json:"first_seen"`
	Confirmed bool           `json:"confirmed"`
}

// listed returns the state without null lists; it changes nothing that the
// source may still hold.
func listed(s live.State) live.State {
	s.Held = orEmpty(s.Held)
	s.Waiting = orEmpty(s.Waiting)
	s.Waits = orEmpty(s.Waits)
	s.Nodes = orEmpty(s.Nodes)
	slowest := make([]live.Acquisition, len(s.Slowest))
	for i, a := range s.Slowest {
		a.Steps = orEmpty(a.Steps)
		slowest[i] = a
	}
	s.Slowest = slowest
	return s
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func scanOf(r scanner.Report, swept bool) *scan {
	s := &scan{Nodes: []scanNode{}, Findings: []finding{}}
	if !swept {
		return s
	}
	s.Started, s.Took = &r.Started, r.Took.Seconds()
	s.Standby, s.Overflow, s.Resolved = r.Standby, r.Overflow, len(r.Resolved)
	for _, n := range r.Nodes {
		s.Nodes = append(s.Nodes, scanNodeOf(n))
	}
	for _, f := range r.Findings {
		s.Findings = append(s.Findings, findingOf(f))
	}
	for _, f := range r.Pending {
		s.Findings = append(s.Findings, findingOf(f))
	}
	return s
}

func scanNodeOf(n scanner.NodeReport) scanNode {
	s := scanNode{Node: n.Node, Locks: n.Locks, Examined: n.Examined, Truncated: n.Truncated}
	if n.Err != nil {
		s.Error = n.Err.Error()
	}
	return s
}

func findingOf(f scanner.Finding) finding {
	return finding{
		Class: f.Class, Node: f.Node, Key: scanner.KeyText(f.Key), Type: f.Type, TTL: ttlSeconds(f.TTL),
		Holder: f.Hold.Instance, Format: f.Hold.Format,
		Evidence: f.Evidence, FirstSeen: f.FirstSeen, Confirmed: f.Confirmed,
	}
}

func ttlSeconds(ttl time.Duration) *float64 {
	if ttl < 0 {
		return nil
	}
	seconds := ttl.Seconds()
	return &seconds
}
