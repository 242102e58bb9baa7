package nodes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Changes is the model of several changes of the configuration on the same nodes: at
// once, one after another by who knows of it or not, cut off, finished and undone. It has
// no leases and no time: where two configurations never stand on quorums of nodes at
// once, [Members] says that no two leases are valid.
type Changes struct {
	Sets  string // the nodes of each configuration: "ABC ABCD"; the first stands on its nodes
	Acts  string // what each act changes, by number: "0>1 0>2"; "1>1" lets nodes join that were away
	Away  int    // nodes that do not answer an act when it asks
	Lost  int    // marks whose answer is lost, carried out or not, of all acts
	Wipes int    // nodes that lose their marker

	Rules  ChangesRules
	parsed parsedChanges
}

// ChangesRules switch off what an act goes by. The zero value has all rules on.
type ChangesRules struct {
	FromBelieved    bool // nobody looks for which configuration the nodes stand
	MarkWithoutRead bool // a mark replaces whatever the node has by then
	AnyMark         bool // the mark of any act to the old or the new configuration may be replaced
	HalfIsEnough    bool // of an old set so many nodes are marked that the others are no quorum
	WipedCounts     bool // nodes without a marker count for the old configuration
	NotConfirmed    bool // nobody looks whether all marks are there at once
	JoinUnconfirmed bool // nor whether those that are to be joined are still where they were read
	TakenBackBlind  bool // what an act has marked is taken back whatever became of it
	BeginBlind      bool // the second round takes any marker for the mark of the first
}

type parsedChanges struct {
	sets []nodeSet
	acts []struct{ from, to uint8 } // numbers of configurations, from 1
}

// nodeSet has a bit for each node.
type nodeSet uint8

func (s nodeSet) has(j int) bool { return s&(1<<j) != 0 }

func (s nodeSet) size() (n int) {
	for j := range changesNodes {
		n += int(explore.Bit(s.has(j)))
	}
	return n
}

const (
	changesNodes = 5
	changesActs  = 3
)

// parse reads the bounds.
func (m *Changes) parse() *Changes {
	for text := range strings.FieldsSeq(m.Sets) {
		var set nodeSet
		for _, name := range text {
			set |= 1 << (name - 'A')
		}
		m.parsed.sets = append(m.parsed.sets, set)
	}
	for text := range strings.FieldsSeq(m.Acts) {
		var from, to uint8
		_, _ = fmt.Sscanf(text, "%d>%d", &from, &to)
		m.parsed.acts = append(m.parsed.acts, struct{ from, to uint8 }{from + 1, to + 1})
	}
	return m
}

func (m *Changes) set(configuration uint8) nodeSet { return m.parsed.sets[configuration-1] }

// changesMarker is what a node stands for.
type changesMarker struct {
	configuration uint8 // 1 + number; 0 is no marker
	left          bool  // it is not a member of that, and a member of the one before
	by            uint8 // 1 + number of the act that has marked it; 0 where it stands for the configuration
	from          uint8 // of a mark: the configuration that the act replaces
}

type actPhase uint8

const (
	actIdle actPhase = iota
	actAsks
	actMarks
	actConfirms
	actBegins
	actTakesBack
	actRefused
	actDone
)

// actState is what an act knows.
type actState struct {
	phase   actPhase
	read    [changesNodes]changesMarker // as it was read, and what its mark replaced
	away    nodeSet
	pending nodeSet // of this phase
	mine    nodeSet // it has marked
	joins   bool    // only nodes that were away are to go over: the others have
	spoil   bool    // a node could not begin
}

type changesState struct {
	nodes [changesNodes]changesMarker
	acts  [changesActs]actState
	lost  uint8
	wiped uint8
}

// Start implements [explore.Model].
func (m *Changes) Start() (s changesState) {
	for j := range s.nodes {
		if m.set(1).has(j) {
			s.nodes[j] = changesMarker{configuration: 1}
		}
	}
	return s
}

// Violation implements [explore.Model].
func (m *Changes) Violation(s changesState) string {
	var standing []uint8
	for i := range m.parsed.sets {
		c := uint8(i + 1)
		if m.quorum(m.set(c), func(j int) bool { return s.nodes[j] == changesMarker{configuration: c} }) {
			standing = append(standing, c)
		}
	}
	if len(standing) > 1 {
		return "two configurations stand on a quorum"
	}
	if m.canReturn() {
		return ""
	}
	for i, act := range m.parsed.acts {
		other := func(j int) bool {
			return s.acts[j].phase == actDone && m.parsed.acts[j].from == act.from && m.parsed.acts[j].to != act.to
		}
		if s.acts[i].phase == actDone && slices.ContainsFunc([]int{0, 1, 2}[:i], other) {
			return "two changes from one configuration to different ones have succeeded"
		}
	}
	return ""
}

// canReturn reports that an act leads back to where another began: then each may rightly succeed.
func (m *Changes) canReturn() bool {
	for _, act := range m.parsed.acts {
		for _, other := range m.parsed.acts {
			if act.to == other.from && act.from == other.to {
				return true
			}
		}
	}
	return false
}

// quorum reports that more than half of a set is so.
func (m *Changes) quorum(set nodeSet, is func(j int) bool) bool {
	return 2*m.count(set, is) > set.size()
}

func (m *Changes) count(set nodeSet, is func(j int) bool) (n int) {
	for j := range changesNodes {
		n += int(explore.Bit(set.has(j) && is(j)))
	}
	return n
}

// Canonical implements [explore.Model]: which nodes are in which set matters, so none are alike.
func (m *Changes) Canonical(s changesState) changesState { return s }
