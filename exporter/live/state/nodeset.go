package state

import (
	"slices"
	"strings"
)

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
