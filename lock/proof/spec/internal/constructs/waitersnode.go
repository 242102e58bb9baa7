package constructs

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// nodeSteps are the calls of client c about one slot that node j may carry out next.
func (m *Waiters) nodeSteps(s waitersState, c, j, slot int, each func(explore.Step, waitersState)) {
	call := s.nodes[j].calls[c][slot]
	do := func(text string, to waitersState) { each(explore.Step{Text: text, Client: c, Node: j, Slot: slot}, to) }
	switch {
	case call.acquire == attempt.Pending:
		text := "{n} refuses slot {s} to {c}"
		if s.acquire(m, c, j, slot) {
			text = "{n} grants slot {s} to {c}"
			s.noneFree(m)
		}
		do(text, s)
	case call.release != noRelease:
		if int(s.ignored) < m.Ignored && call.release == plainRelease {
			to := s
			to.ignored++
			to.nodes[j].calls[c][slot].next()
			to.nodes[j].orphan(m, c, slot)
			do("{n} never gets the release of slot {s} by {c}", to)
		}
		m.named(s, "{n} carries out the release of slot {s} by {c}", do,
			func(to *waitersState, lost bool) { to.release(m, c, j, slot, lost) })
	}
}

// named takes a step that may name a waiter: its wake-up arrives, or is lost.
func (m *Waiters) named(s waitersState, text string, do func(string, waitersState),
	step func(to *waitersState, lost bool),
) {
	heard, lost := s, s
	step(&heard, false)
	do(text, heard)
	step(&lost, true)
	if int(s.unheard) < m.Unheard && lost != heard {
		lost.unheard++
		do(text+", and a wake-up is lost", lost)
	}
}

// acquire is acquire.lua: it reports that the slot is granted.
func (s *waitersState) acquire(m *Waiters, c, j, slot int) bool {
	n := &s.nodes[j]
	call := &n.calls[c][slot]
	kept := &s.next[m.kept(slot)]
	barred := j == waitersGate && kept.client != 0 && int(kept.client) != c+1
	if n.holder[slot] == 0 && !barred {
		n.holder[slot], n.left[slot] = uint8(c)+1, 0
		if j == waitersGate {
			s.queues[m.queue(slot)] &^= 1 << c
			if int(kept.client) == c+1 {
				*kept = reservation{}
			}
		}
		call.acquire = s.known(c, slot, call.release, attempt.Granted)
		return true
	}
	if j == waitersGate && (!m.Rules.QueuedLate || int(s.clients[c].tried) == m.Slots) {
		s.join(m, c, slot)
	}
	call.acquire = s.known(c, slot, call.release, attempt.Refused)
	return false
}

// noneFree begins to count anew for all, unless a slot is still free.
func (s *waitersState) noneFree(m *Waiters) {
	if !m.anyFree(s) {
		for c := range s.clients {
			s.clients[c].starve = 0
		}
	}
}

// known is an answer, if the client still wants to know it.
func (s *waitersState) known(c, slot int, release slotRelease, answer attempt.Acquire) attempt.Acquire {
	if at := &s.clients[c]; at.phase != looking || int(at.slot) != slot || release != noRelease {
		return attempt.Unsent
	}
	return answer
}

// next goes on behind a release.
func (call *slotCall) next() {
	again := call.again
	if *call = (slotCall{}); again {
		call.acquire = attempt.Pending
	}
}

// join puts a client into the queue of a slot, at its place.
func (s *waitersState) join(m *Waiters, c, slot int) {
	if !m.queuesFor(c, slot) {
		return
	}
	at := &s.clients[c]
	if at.ticket == 0 {
		for i := range s.clients {
			at.ticket = max(at.ticket, s.clients[i].ticket)
		}
		at.ticket++
	}
	s.queues[m.queue(slot)] |= 1 << c
}

// release is release.lua. The gate keeps the slot for the head of the queue.
func (s *waitersState) release(m *Waiters, c, j, slot int, lost bool) {
	n := &s.nodes[j]
	call := &n.calls[c][slot]
	had := int(n.holder[slot]) == c+1
	if had {
		n.holder[slot], n.left[slot] = 0, 0
	}
	rejoins := call.release == rejoinRelease
	call.next()
	if j != waitersGate {
		return
	}
	if rejoins && had && !m.Rules.NotRejoined {
		s.join(m, c, slot)
	}
	s.nameNext(m, slot, lost)
}

// nameNext keeps a slot that is free on the gate for the head of its queue.
func (s *waitersState) nameNext(m *Waiters, slot int, lost bool) {
	kept, queue := &s.next[m.kept(slot)], &s.queues[m.queue(slot)]
	if kept.client != 0 || s.nodes[waitersGate].holder[slot] != 0 || *queue == 0 {
		return
	}
	head := -1
	for c := range s.clients {
		if *queue&(1<<c) != 0 && (head < 0 || s.clients[c].ticket < s.clients[head].ticket) {
			head = c
		}
	}
	*queue &^= 1 << head
	*kept = reservation{client: uint8(head) + 1, left: uint8(m.Window)}
	if at := &s.clients[head]; !lost && (at.phase == looking || at.phase == sleeping) {
		at.retry = false
		if at.wake = uint8(slot) + 1; m.Rules.ReservationWithoutSlot {
			at.wake = uint8(m.prefers(head)) + 1
		}
	}
}

// leave is leave.lua: what is kept for the client is kept for the next instead.
func (s *waitersState) leave(m *Waiters, c int, lost bool) {
	s.clients[c].leaves, s.clients[c].ticket = false, 0
	for slot := range m.Slots {
		s.queues[slot] &^= 1 << c
	}
	for slot := range m.Slots {
		if kept := &s.next[m.kept(slot)]; int(kept.client) == c+1 {
			*kept = reservation{}
			if !m.Rules.NotPassedOn {
				s.nameNext(m, slot, lost)
			}
		}
	}
}

// orphan lets a key of a client expire which it does not renew.
func (n *waitersNode) orphan(m *Waiters, c, slot int) {
	if int(n.holder[slot]) == c+1 && n.left[slot] == 0 {
		n.left[slot] = uint8(m.TTL)
	}
}
