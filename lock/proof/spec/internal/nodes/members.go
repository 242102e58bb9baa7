package nodes

import "github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"

// Members is the model of a change of the configuration: which nodes there are, and the
// longest TTL. Client 1 has the old configuration, client 2 the new one, and neither knows
// of the other. A set is the first so many of five nodes. A node answers at once.
type Members struct {
	Old, New       int  // nodes of the sets
	OldTTL, NewTTL int  // ticks: the longest TTL of each, which its client asks for
	Renewed        bool // client 1 renews its lease, again and again
	Wipes          int  // nodes that lose all their keys
	Restarts       int  // nodes that restart with all of them
	Alone          bool // nothing changes: client 2 names node A of the old set alone, for it knows of no set

	Rules MembersRules
}

// MembersRules switch off what a change goes by. The zero value has all rules on.
type MembersRules struct {
	AnyConfiguration bool // nodes vote for both configurations
	NodeByNode       bool // each node goes over by itself: nodes may be at different pairs of sets
	OldQuorumLeft    bool // the new nodes may begin before an old quorum has become impossible
	NoQuarantine     bool // nodes that go over vote at once
	NewLengthOnly    bool // they are silent for as long as the new longest TTL, though the old one is longer
	ExtendsUnchecked bool // extend and refill do not say for which configuration they are
	TTLNotNamed      bool // the longest TTL is no part of the configuration
	NumberDecides    bool // a caller of one node gets its vote, whatever set the node votes for
	RestartEndsMark  bool // a node that restarts while it is marked begins its quarantine for the new set
}

const memberNodes = 5

// configuration is for which one a node's marker stands.
type configuration uint8

const (
	oldSet configuration = iota // also of client 1
	newSet                      // also of client 2
	noSet                       // no marker
)

// standing is whether a node votes for its configuration.
type standing uint8

const (
	votes standing = iota
	changing
	silent
)

type memberNode struct {
	set      configuration
	standing standing
	former   bool  // its marker names the process of before a restart
	left     uint8 // ticks of its quarantine
	holder   uint8 // 1 + client
	ttl      uint8
	granted  [2]bool
	extended attempt.Extend // in client 1's round
}

type membersState struct {
	clients [2]guardClient
	round   uint8 // client 1's, of renewal: 1 + ticks since it began
	begun   bool  // an act of change
	wiped   uint8
	started uint8 // again
	nodes   [memberNodes]memberNode
}

// Start implements [explore.Model].
func (m *Members) Start() (s membersState) {
	for j := m.Old; j < memberNodes; j++ {
		s.nodes[j].set = noSet
	}
	return s
}

func (m *Members) size(c int) int { return [...]int{m.Old, m.New}[c] }

func (m *Members) ttl(c int) uint8 { return uint8([...]int{m.OldTTL, m.NewTTL}[c]) }

// Violation implements [explore.Model].
func (m *Members) Violation(s membersState) string {
	if s.clients[0].phase == attempt.Held && s.clients[1].phase == attempt.Held {
		return "two leases are valid"
	}
	return ""
}

// Canonical implements [explore.Model]: which nodes are in which set matters, so none are alike.
func (m *Members) Canonical(s membersState) membersState { return s }

// knows reports that a node's marker is of the client's configuration.
func (m *Members) knows(n *memberNode, c int) bool {
	switch {
	case m.Rules.AnyConfiguration, m.Rules.TTLNotNamed && m.Old == m.New:
		return n.set != noSet
	}
	return int(n.set) == c
}
