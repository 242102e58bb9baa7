package nodes

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Guard is the model of nodes that forget: the marker in which a server proves that it
// remembers, its quarantine, the clocks that end it, and what people may declare. Three
// nodes, two clients, one attempt each; a node answers at once.
type Guard struct {
	TTL      int  // ticks for which a node keeps a key, and for which one that forgot is silent
	New      bool // the nodes have no markers at the start
	Faults   int  // how many of those allowed happen
	Allowed  Fault
	Vouches  int  // of a person for all nodes
	Restarts int  // nodes for which a person vouches after a restart
	Ahead    bool // the clock of client 2 is far ahead of that of client 1

	// ByMarker is the guard of servers that report no run_id: the marker alone tells one, whatever process has it.
	ByMarker bool

	Untrue bool // who vouches for all nodes may be wrong: those that were used have all been flushed

	Rules GuardRules
}

// Fault is a set of things that may happen to a node.
type Fault uint8

// What may happen.
const (
	Flush        Fault = 1 << iota // it loses all keys, and goes on
	Restart                        // another process, with the data
	RestartEmpty                   // another process, without
	RestartOld                     // another process, with the data of a snapshot
	Copied                         // it follows another node, and is promoted again
	ClockSet                       // its clock is put forward by more than a quarantine, as after a slow boot
	OwnPast                        // it gets its own data of before back, and is the same process: not covered
)

// GuardRules switch off what the guard goes by. The zero value has all rules on.
type GuardRules struct {
	NoRunID            bool // a marker does not name the process that has it
	PoolSight          bool // a connection is compared with what another one saw
	NodeClockAlone     bool // a quarantine ends by the node's clock
	CallerClockAlone   bool // a quarantine ends by the callers' clock
	CallerClockCapped  bool // the callers' clock is kept near the node's
	OldStamp           bool // a quarantine counts from an instant that was read before it began
	NoQuarantine       bool // a server without a marker gets one at once
	ShortQuarantine    bool // a quarantine is a tick too short
	VouchWithoutNonce  bool // the second round of a vouch does not look for what the first one wrote
	VouchForSome       bool // those that have a marker need not be new
	VouchStays         bool // a locker vouches whenever it meets a server without a marker
	VouchAnyQuarantine bool // who vouches for a restarted node does not name its quarantine
}

const (
	guardNodes   = 3
	guardClients = 2
	guardQuorum  = guardNodes/2 + 1
)

// markerState is what a marker says.
type markerState uint8

const (
	noMarker markerState = iota
	voting
	quarantined
)

// foreign is the process of a marker that came from another node.
const foreign = 0

// vouchIdentity is the identity of a quarantine that a vouch began.
const vouchIdentity = 15

// marker is the proof on a node that it remembers, or its quarantine.
type marker struct {
	state     markerState
	process   uint8 // 1 + generation of the node's process that it names, or foreign
	identity  uint8 // of the quarantine
	counted   bool
	byNode    uint8 // ticks since the count began, by the node's clock
	byCallers uint8 // by the callers'
	beganBy   uint8 // the client whose clock was read
	capped    bool  // the callers' clock was taken for as slow as the node's
}

// data is what a node stores.
type data struct {
	marker marker
	holder uint8 // 1 + client
	ttl    uint8
	used   bool // a lock was granted here
}

type guardNode struct {
	data
	saved       data // a snapshot
	generation  uint8
	slow        bool  // its clock was slow when it booted
	quarantines uint8 // that began here, for their identities
	intact      bool  // it has never forgotten anything
	granted     [guardClients]bool
	marked      bool  // by the first round of a vouch
	confirming  bool  // the second round may arrive, again and again
	declared    uint8 // 1 + identity of the quarantine for which a person vouches; this too may arrive again
	declaredFor uint8 // generation of the process
}

type guardClient struct {
	phase attempt.Phase
	age   uint8
	left  uint8
}

type guardState struct {
	clients  [guardClients]guardClient
	nodes    [guardNodes]guardNode
	faults   uint8
	vouches  uint8
	restarts uint8
	vouching bool // the first round is under way
	used     bool // a lock was granted anywhere, ever
}

// Start implements [explore.Model].
func (m *Guard) Start() (s guardState) {
	for j := range s.nodes {
		s.nodes[j].intact = true
		if !m.New {
			s.nodes[j].marker = s.nodes[j].ownMarker(voting)
		}
	}
	return s
}

// isOwn reports whether a marker on the node is of its present process, as far as the guard can tell.
func (m *Guard) isOwn(n *guardNode) bool { return m.ByMarker || n.marker.process == 1+n.generation }

// ownMarker names the node's process.
func (n *guardNode) ownMarker(state markerState) marker {
	return marker{state: state, process: 1 + n.generation}
}

// Violation implements [explore.Model].
func (m *Guard) Violation(s guardState) string {
	if s.clients[0].phase == attempt.Held && s.clients[1].phase == attempt.Held {
		return "two leases are valid"
	}
	return ""
}

// Canonical implements [explore.Model]: nodes that swap their names make the same state.
func (m *Guard) Canonical(s guardState) guardState {
	slices.SortFunc(s.nodes[:], func(x, y guardNode) int {
		return cmp.Or(cmp.Compare(x.key(), y.key()), cmp.Compare(x.data.key(), y.data.key()),
			cmp.Compare(x.saved.key(), y.saved.key()))
	})
	return s
}

func (n *guardNode) key() uint64 {
	k := uint64(n.generation) | uint64(n.quarantines)<<4 | uint64(n.declared)<<8 | uint64(n.declaredFor)<<16
	for i, flag := range [...]bool{n.slow, n.intact, n.granted[0], n.granted[1], n.marked, n.confirming} {
		k |= explore.Bit(flag) << (24 + i)
	}
	return k
}

func (d data) key() uint64 {
	k := uint64(d.marker.state) | uint64(d.marker.process)<<4 | uint64(d.marker.identity)<<8 | uint64(
		d.marker.byNode)<<16 |
		uint64(d.marker.byCallers)<<24 | uint64(d.marker.beganBy)<<32 | uint64(d.holder)<<36 | uint64(d.ttl)<<40
	return k | explore.Bit(d.marker.counted)<<48 | explore.Bit(d.marker.capped)<<49 | explore.Bit(d.used)<<50
}
