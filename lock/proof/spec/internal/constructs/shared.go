package constructs

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Shared is the model of a read/write lock: readers with an expiry each, fences that are raised
// on a quorum, renewal that puts lost keys back, a node that forgets, and writers that wait and
// bar the readers that come later. Three nodes; time in ticks, at one rate. A call and its
// answer are one step, and a release reaches all nodes at once: what is late is the matter of
// locks.Votes.
type Shared struct {
	Modes    string // of each client: R or W; at most 3
	TTLs     string // of each client, one digit
	Renewals int    // rounds of renewal, of all clients
	Again    int    // attempts of each client after its first, for a client whose votes were not enough
	Wipes    int    // nodes that lose all, with the counter, and are silent for the longest TTL
	Queues   bool   // writers that are refused wait in a queue of that node
	Act      bool   // an operator revokes all readers, once

	Rules SharedRules
}

// SharedRules switch off what the algorithm goes by. The zero value has all rules on.
type SharedRules struct {
	ReaderQuorumOne   bool // one node is enough for a reader
	OneExpiry         bool // a node keeps all readers for as long as the last that came
	NotRaised         bool // the largest counter is not written back
	NoFloor           bool // a node that lost its counter begins with none
	ReaderNotFloored  bool // it does for a reader, not for a writer
	NoQuarantine      bool // a node that has forgotten votes at once
	RefillVotes       bool // a key that was put back counts for the round that did it
	RefillInSilence   bool // a node that may not vote takes a key back
	RefillOverWriter  bool // a reader's key is put back where a writer is
	QueueAtGate       bool // a writer waits on the first node alone
	WriterBarsNobody  bool // a writer that waits bars no reader
	ReadersNotCounted bool // a writer does not look for readers
	ReaderRenewed     bool // a marked reader is renewed
	ReaderRefilled    bool // a marked reader that a node lost is put back
	ReaderGrantedLate bool // an acquire of a marked reader that comes late is granted
	MinorityMarked    bool // one marked node is enough
	PromiseByReader   bool // the promise is that of the reader who lasts longest on a quorum, not that of the nodes
	PromiseByRead     bool // the promise counts from what the act read before it marked
}

const (
	sharedNodes   = 3
	sharedClients = 3
)

type sharedNode struct {
	readers [sharedClients]uint8 // ticks until a reader's entry expires
	writer  uint8                // 1 + client
	ttl     uint8                // of the writer
	counter uint8
	empty   bool                 // it has lost its counter
	silent  uint8                // ticks until its quarantine is over
	queued  uint8                // a bit for each writer that waits here
	answers [sharedClients]uint8 // 1 + counter of a grant whose answer the client has
	marks   uint8                // a bit for each reader that is revoked
	asked   bool                 // by the act
	replied bool
	lasts   [sharedClients]uint8 // ticks that each reader had left, as the node replied to the act
}

type sharedClient struct {
	phase          attempt.Phase
	left           uint8 // ticks of validity, from before the first request
	tries          uint8 // attempts that were given back
	fence          uint8
	atLeast, above uint8 // what its fence must be at least, and above what
	behind         uint8 // writers that waited on a quorum when it came
}

type sharedState struct {
	nodes                      [sharedNodes]sharedNode
	clients                    [sharedClients]sharedClient
	newestWriter, newestReader uint8
	wrong                      bool // a fence was too low
	renewed, wiped             uint8
	act                        sharedAct
}

// Start implements [explore.Model].
func (m *Shared) Start() (s sharedState) { return s }

func (m *Shared) writes(c int) bool { return m.Modes[c] == 'W' }

func (m *Shared) ttl(c int) uint8 { return m.TTLs[c] - '0' }

func (m *Shared) quorum(c int) int {
	if m.Rules.ReaderQuorumOne && !m.writes(c) {
		return 1
	}
	return sharedNodes/2 + 1
}

// Violation implements [explore.Model].
func (m *Shared) Violation(s sharedState) string {
	writers, readers := 0, 0
	for c := range m.Modes {
		at := &s.clients[c]
		if at.phase != attempt.Held {
			continue
		}
		if m.writes(c) {
			writers++
			continue
		}
		readers++
		for w := range m.Modes {
			if at.behind&(1<<w) != 0 && s.clients[w].phase == attempt.Asking {
				return "a reader has overtaken a writer that waited"
			}
		}
	}
	switch {
	case writers > 1 || writers == 1 && readers > 0:
		return "a writer and another holder are valid"
	case s.wrong:
		return "a fence is lower than one before"
	}
	return m.actViolation(&s)
}

// Canonical implements [explore.Model]: nodes that swap their names make the same state.
func (m *Shared) Canonical(s sharedState) sharedState {
	if !m.Rules.QueueAtGate {
		slices.SortFunc(s.nodes[:], compareSharedNodes)
	}
	return s
}

func compareSharedNodes(x, y sharedNode) int {
	return cmp.Or(cmp.Compare(x.key(), y.key()), slices.Compare(x.answers[:], y.answers[:]),
		slices.Compare(x.lasts[:], y.lasts[:]))
}

func (n *sharedNode) key() (k uint64) {
	for _, ttl := range n.readers {
		k = k<<4 | uint64(ttl)
	}
	k = k<<4 | uint64(n.writer)
	k = k<<4 | uint64(n.ttl)
	k = k<<8 | uint64(n.counter)
	k = k<<4 | uint64(n.silent)
	k = k<<3 | uint64(n.marks)
	k = k<<2 | explore.Bit(n.asked)<<1 | explore.Bit(n.replied)
	return k<<5 | uint64(n.queued)<<1 | explore.Bit(n.empty)
}
