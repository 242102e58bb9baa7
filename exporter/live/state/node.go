package state

import (
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock/decorate"
)

// Node is the health of one node over the last minute, as its commands show.
type Node struct {
	Name      string   `json:"name"`
	Up        bool     `json:"up"`                      // it answered the last command and may vote
	State     string   `json:"state"`                   // one of the NodeState constants
	Since     *float64 `json:"state_seconds,omitempty"` // in that state, for how long; null: unknown
	Backend   string   `json:"backend,omitempty"`
	Calls     int      `json:"calls"` // commands that were sent to it
	Failures  int      `json:"failures"`
	Failing   bool     `json:"failing,omitempty"`   // more than 1 % of them failed
	NotAsked  int      `json:"not_asked,omitempty"` // commands that were not sent because of its state
	P50       float64  `json:"p50_seconds"`
	P99       float64  `json:"p99_seconds"`
	Quiet     *float64 `json:"quiet_seconds"`           // since its last answer; null: never
	Asked     *float64 `json:"asked_seconds,omitempty"` // since the command that shows State; null: not known
	Error     string   `json:"error,omitempty"`
	ErrorAge  *float64 `json:"error_seconds,omitempty"`      // since Error; null: unknown
	ClockSkew *float64 `json:"clock_skew_seconds,omitempty"` // how far its clock is ahead of the process's; null: unknown
	Restart   *Restart `json:"restart,omitempty"`            // set while locks that it forgot can be valid
}

// The states of a Node.
const (
	NodeUp          = string(decorate.NodeUp)
	NodeShaky       = string(decorate.NodeShaky)       // it votes, and a tenth of its commands or more failed
	NodeQuarantined = string(decorate.NodeQuarantined) // it answers but may not vote yet: see Restart
	NodeBarred      = string(decorate.NodeBarred)      // it answers but may not vote in its present state: see Error
	NodeDown        = string(decorate.NodeDown)        // it does not answer
	NodeUnknown     = string(decorate.NodeUnknown)     // it was not asked for two minutes
)

// Restart says that a node may have forgotten locks.
type Restart struct {
	Noticed   float64 `json:"noticed_seconds"`   // ago
	Evicted   bool    `json:"evicted,omitempty"` // it did not restart, but evicted keys
	Witnessed bool    `json:"witnessed"`         // false: the node had started shortly before the first contact
	Left      float64 `json:"left_seconds"`      // how long earlier locks can still be valid
	Enforced  bool    `json:"enforced"`          // true: it does not vote until then; false: it votes
}

// Votes reports whether the node answers and may vote. Sources that know only whether it answers leave State empty.
func (n *Node) Votes() bool {
	return (decorate.NodeState(n.State).Votes() || n.State == "" && n.Up) && (n.Restart == nil || !n.Restart.Enforced)
}

// NodeSet is a set of nodes that vote together.
type NodeSet struct {
	Backend  string   `json:"backend,omitempty"`
	Nodes    int      `json:"nodes"`
	Voting   int      `json:"voting"`                       // nodes that answer and may vote, when they were asked last
	Asked    *float64 `json:"asked_seconds,omitempty"`      // since that, of the one asked longest ago; null: not known
	Quorum   int      `json:"quorum"`                       // votes that a lock needs
	NoQuorum bool     `json:"no_quorum,omitempty"`          // too few nodes can vote: no lock can be acquired or renewed
	Since    *float64 `json:"no_quorum_seconds,omitempty"`  // for how long; null: unknown
	Down     []string `json:"down,omitempty"`               // nodes that do not answer
	Quiet    *float64 `json:"down_quiet_seconds,omitempty"` // since the last answer of one of Down; null: never
	Error    string   `json:"down_error,omitempty"`         // of the first of Down that has one
	Silent   []string `json:"may_not_vote,omitempty"`       // nodes that answer but may not vote
	Unknown  []string `json:"unknown,omitempty"`            // nodes that were not asked for long
}

// SetsOf groups nodes by their backends, in the order in which they come.
func SetsOf(nodes []Node) []NodeSet {
	sets := make([]NodeSet, 0)
	grouped := make(map[string][]*Node)
	for i := range nodes {
		n := &nodes[i]
		if grouped[n.Backend] == nil {
			sets = append(sets, NodeSet{Backend: n.Backend})
		}
		grouped[n.Backend] = append(grouped[n.Backend], n)
	}
	for i := range sets {
		sets[i].count(grouped[sets[i].Backend])
	}
	return sets
}

func (s *NodeSet) count(nodes []*Node) {
	var out []float64 // for how long each of the others has not voted
	known := true
	for _, n := range nodes {
		s.Nodes++
		if n.Votes() {
			s.Voting++
			if n.Asked != nil && (s.Asked == nil || *n.Asked > *s.Asked) {
				s.Asked = n.Asked
			}
			continue
		}
		if n.State == NodeUnknown {
			s.Unknown = append(s.Unknown, n.Name)
			continue
		}
		if known = known && n.Since != nil; known {
			out = append(out, *n.Since)
		}
		s.exclude(n)
	}
	s.Quorum = s.Nodes/2 + 1
	can := s.Voting + len(s.Unknown)
	s.NoQuorum = can < s.Quorum
	if s.NoQuorum && known {
		slices.Sort(out)
		s.Since = &out[s.Quorum-can-1] // the vote that was one too few, and those after it
	}
}

// exclude adds a node that does not vote.
func (s *NodeSet) exclude(n *Node) {
	if down := n.State == NodeDown || n.State == "" && !n.Up; !down {
		s.Silent = append(s.Silent, n.Name)
		return
	}
	s.Down = append(s.Down, n.Name)
	if n.Quiet != nil && (s.Quiet == nil || *n.Quiet < *s.Quiet) {
		s.Quiet = n.Quiet
	}
	if s.Error == "" {
		s.Error, _, _ = strings.Cut(n.Error, " (") // the cause of a timeout is for the node's own row
	}
}
