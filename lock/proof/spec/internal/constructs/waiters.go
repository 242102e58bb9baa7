package constructs

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Waiters is the model of those who wait for a permit of a semaphore: one queue on the gate,
// whose releases keep the slot that became free for the head, and waiters that look over all
// slots in ring order. Or, without the capability, a queue for each slot. Three nodes; A is
// the gate; clients 1 and 2 have a permit each when it begins.
//
// A tick passes only when every message has arrived and every client has done what it need
// not wait with. So a slot that is free while a tick passes has been offered to nobody.
type Waiters struct {
	Slots   int  // k: at most 2
	Waiting int  // clients that come, each once: at most 3
	Split   bool // nodes B and C answer each by itself; otherwise B stands for both
	PerSlot bool // without the capability: a waiter queues for the slot that it prefers
	Poll    int  // ticks after which a waiter looks again by itself; 0: never
	Window  int  // ticks for which a slot is kept for the waiter that was named
	TTL     int  // ticks for which a node keeps what nobody renews
	Bound   int  // ticks that a waiter may wait although a slot is free
	GiveUps int  // waiters that stop waiting
	Crashes int  // clients that crash
	Unheard int  // wake-ups that are lost
	Ignored int  // releases that a node never gets
	Forgets int  // how often the gate loses its queue

	Rules WaitersRules
}

// WaitersRules switch off what the algorithm goes by. The zero value has all rules on.
type WaitersRules struct {
	QueuePerSlot           bool // a queue for each slot, and nobody looks again by himself
	ReservationWithoutSlot bool // one reservation for the semaphore, which does not say for which slot
	QueuedLate             bool // a waiter joins the queue when the last slot has refused it
	NotRejoined            bool // a waiter that was named for nothing does not go back to its place
	NotPassedOn            bool // who leaves drops the reservations that it has
	NoLeaveAfterGrant      bool // where the gate granted one slot, the waiter does not leave
	LeaveOvertakes         bool // it leaves before its earlier calls have arrived
	NoRetry                bool // nor does it look again by itself
	NoPoll                 bool // a waiter without a wake-up never asks again
	LooksAtPreferred       bool // without the capability: it looks again at its own slot alone
}

const (
	waitersNodes   = 3
	waitersClients = 5
	waitersSlots   = 2
	waitersGate    = 0
	waitersQuorum  = 2
)

// slotCall is what is under way from a client to a node, about one slot: an acquire, a
// release behind it, and the acquire of the next look behind that.
type slotCall struct {
	acquire attempt.Acquire
	release slotRelease
	again   bool
}

type slotRelease uint8

const (
	noRelease slotRelease = iota
	plainRelease
	rejoinRelease // of a waiter, which goes back to its place in the queue
)

type waitersNode struct {
	holder [waitersSlots]uint8 // 1 + client; 0 if the slot is free
	left   [waitersSlots]uint8 // ticks until a key that nobody renews expires; 0: it is renewed
	calls  [waitersClients][waitersSlots]slotCall
}

// reservation keeps a slot on the gate.
type reservation struct{ client, left uint8 } // 1 + client; 0 if it is kept for nobody

// waitersClient is one process, which asks for one slot after the other.
type waitersClient struct {
	phase  waiting
	slot   uint8 // that it asks for, or has
	tried  uint8 // slots that it has asked for in this look, with this one
	named  bool  // this look follows a wake-up
	wake   uint8 // 1 + slot that it was named for, and has not heard yet
	pause  bool  // it was named for nothing, and waits for a tick
	retry  bool  // its wake-up is its own: it was named for nothing
	poll   uint8 // ticks until it looks by itself
	ticket uint8 // its place, once it has one
	leaves bool  // under way to the gate
	starve uint8 // ticks for which it has waited although a slot was free
}

// waiting is how far a client of a semaphore has come.
type waiting uint8

const (
	away waiting = iota // not come yet
	looking
	sleeping
	permitted
	gone
	crashed
)

type waitersState struct {
	nodes   [waitersNodes]waitersNode
	queues  [waitersSlots]uint8 // on the gate: a bit for each client; one queue is the first
	next    [waitersSlots]reservation
	clients [waitersClients]waitersClient

	gaveUp, crashes, unheard, ignored, forgotten uint8
}

// Start implements [explore.Model].
func (m *Waiters) Start() (s waitersState) {
	for slot := range m.Slots {
		s.clients[slot] = waitersClient{phase: permitted, slot: uint8(slot)}
		for j := range m.nodes() {
			s.nodes[j].holder[slot] = uint8(slot) + 1
		}
	}
	return s
}

// Violation implements [explore.Model].
func (m *Waiters) Violation(s waitersState) string {
	var valid [waitersSlots]int
	for c := range s.clients {
		at := &s.clients[c]
		if at.phase == permitted {
			valid[at.slot]++
		}
		if int(at.starve) > m.Bound {
			return "a waiter waits although a slot is free"
		}
	}
	if max(valid[0], valid[1]) > 1 {
		return "two permits of one slot are valid"
	}
	return ""
}

// Canonical implements [explore.Model]: nodes other than the gate are alike.
func (m *Waiters) Canonical(s waitersState) waitersState {
	if m.Split && s.nodes[1].key() > s.nodes[2].key() {
		s.nodes[1], s.nodes[2] = s.nodes[2], s.nodes[1]
	}
	return s
}

func (n *waitersNode) key() (k uint64) {
	for slot := range waitersSlots {
		k = k*64 + uint64(n.holder[slot])*8 + uint64(n.left[slot])
	}
	for c := range n.calls {
		for _, call := range n.calls[c] {
			k = k*32 + uint64(call.acquire)*6 + uint64(call.release)*2 + explore.Bit(call.again)
		}
	}
	return k
}

func (m *Waiters) clients() int { return m.Slots + m.Waiting }

// prefers is the slot for which a client asks first.
func (m *Waiters) prefers(c int) int { return c % m.Slots }

// queue is where those who wait for a slot are.
func (m *Waiters) queue(slot int) int {
	if m.PerSlot || m.Rules.QueuePerSlot {
		return slot
	}
	return 0
}

// queuesFor reports that a client that a slot refuses goes into that queue.
func (m *Waiters) queuesFor(c, slot int) bool {
	return !m.PerSlot && !m.Rules.QueuePerSlot || slot == m.prefers(c)
}

// kept is where the gate has the reservation of a slot.
func (m *Waiters) kept(slot int) int {
	if m.Rules.ReservationWithoutSlot {
		return 0
	}
	return slot
}

func (m *Waiters) polls() bool { return m.Poll > 0 && !m.Rules.NoPoll && !m.Rules.QueuePerSlot }

// nodes is how many of them the model has.
func (m *Waiters) nodes() int {
	if m.Split {
		return waitersNodes
	}
	return waitersNodes - 1
}

// votes is for how many nodes one stands.
func (m *Waiters) votes(j int) int {
	if j == 1 && !m.Split {
		return waitersNodes - 1
	}
	return 1
}

// isFree reports that a quorum does not have the slot.
func (m *Waiters) isFree(s *waitersState, slot int) bool {
	n := 0
	for j := range m.nodes() {
		if s.nodes[j].holder[slot] == 0 {
			n += m.votes(j)
		}
	}
	return n >= waitersQuorum
}

// anyFree reports that a waiter could have a permit.
func (m *Waiters) anyFree(s *waitersState) bool {
	for slot := range m.Slots {
		if m.isFree(s, slot) {
			return true
		}
	}
	return false
}
