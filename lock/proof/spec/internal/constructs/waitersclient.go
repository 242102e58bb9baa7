package constructs

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model].
func (m *Waiters) Steps(s waitersState, each func(explore.Step, waitersState)) {
	urgent := false
	for c := range m.clients() {
		urgent = m.clientSteps(s, c, each) || urgent
		for j := range m.nodes() {
			for slot := range m.Slots {
				call := s.nodes[j].calls[c][slot]
				urgent = urgent || call != slotCall{} && call.acquire != attempt.Granted && call.acquire != attempt.Refused
				m.nodeSteps(s, c, j, slot, each)
			}
		}
		if s.clients[c].leaves && (m.Rules.LeaveOvertakes || !s.underWay(c, waitersGate)) {
			do := func(text string, to waitersState) { each(explore.Step{Text: text, Client: c}, to) }
			m.named(s, "the gate takes {c} out of the queue", do,
				func(to *waitersState, lost bool) { to.leave(m, c, lost) })
		}
		urgent = urgent || s.clients[c].leaves
	}
	if queued := s.queues[0] | s.queues[1]; int(s.forgotten) < m.Forgets && queued != 0 {
		to := s
		to.forgotten++
		to.queues, to.next = [waitersSlots]uint8{}, [waitersSlots]reservation{}
		each(explore.Step{Text: "the gate loses its queue"}, to)
	}
	if !urgent {
		each(explore.Step{Text: "a tick passes"}, m.tick(s))
	}
}

// underWay reports calls of a client that have not arrived.
func (s *waitersState) underWay(c, j int) bool {
	for _, call := range s.nodes[j].calls[c] {
		if call.acquire == attempt.Pending || call.release != noRelease {
			return true
		}
	}
	return false
}

// clientSteps are what a client may do next. It reports that one of them cannot wait for a tick.
func (m *Waiters) clientSteps(s waitersState, c int, each func(explore.Step, waitersState)) (urgent bool) {
	at := &s.clients[c]
	do := func(text string, slot uint8, to waitersState) {
		each(explore.Step{Text: text, Client: c, Slot: int(slot)}, to)
	}
	switch at.phase {
	case away:
		do("{c} comes, and asks for slot {s}", uint8(m.prefers(c)), m.ask(s, c, m.prefers(c), 1))
	case looking:
		urgent = m.decide(s, c, do)
	case sleeping:
		switch {
		case at.wake != 0:
			to := s
			to.clients[c].named, to.clients[c].retry = !at.retry, false
			do("{c} asks for slot {s}, for which it was named", at.wake-1, m.ask(to, c, int(at.wake)-1, 1))
			urgent = !at.pause
		case m.polls() && at.poll == 0:
			do("{c} looks by itself, first at slot {s}", uint8(m.prefers(c)), m.ask(s, c, m.prefers(c), 1))
			urgent = true
		}
		if int(s.gaveUp) < m.GiveUps {
			to := s
			to.gaveUp++
			to.clients[c] = waitersClient{phase: gone, ticket: at.ticket, leaves: true}
			do("{c} gives up", 0, to)
		}
	case permitted:
		to := s
		to.clients[c] = waitersClient{phase: gone, ticket: at.ticket, leaves: at.leaves}
		for j := range m.nodes() {
			if call := &to.nodes[j].calls[c][at.slot]; call.again {
				call.again = false
			} else {
				call.release = plainRelease
			}
		}
		do("{c} releases slot {s}", at.slot, to)
	}
	if int(s.crashes) < m.Crashes && at.phase != away && at.phase != gone && at.phase != crashed {
		do("{c} crashes", 0, m.crash(s, c))
	}
	return urgent
}

func (m *Waiters) ask(s waitersState, c, slot int, tried uint8) waitersState {
	at := &s.clients[c]
	at.phase, at.slot, at.tried = looking, uint8(slot), tried
	if int(at.wake) == slot+1 {
		at.wake = 0
	}
	for j := range m.nodes() {
		if call := &s.nodes[j].calls[c][slot]; call.release == noRelease {
			call.acquire = attempt.Pending
		} else {
			call.again = true
		}
	}
	return s
}

// decide is what a client makes of the answers, as soon as they are enough.
func (m *Waiters) decide(s waitersState, c int, do func(string, uint8, waitersState)) bool {
	at := &s.clients[c]
	slot := at.slot
	grants, refusals := 0, 0
	for j := range m.nodes() {
		grants += m.votes(j) * int(explore.Bit(s.nodes[j].calls[c][slot].acquire == attempt.Granted))
		refusals += m.votes(j) * int(explore.Bit(s.nodes[j].calls[c][slot].acquire == attempt.Refused))
	}
	gate := s.nodes[waitersGate].calls[c][slot].acquire
	switch {
	case grants >= waitersQuorum:
		// Only the first call, where the gate granted it, cannot have left a place there.
		leaves := at.tried > 1 || at.ticket != 0 || s.underWay(c, waitersGate)
		if m.Rules.NoLeaveAfterGrant && gate == attempt.Granted {
			leaves = false
		}
		*at = waitersClient{phase: permitted, slot: slot, ticket: at.ticket, leaves: leaves}
		for j := range m.nodes() {
			if call := &s.nodes[j].calls[c][slot]; call.acquire != attempt.Pending {
				call.acquire = attempt.Unsent
			}
		}
		do("{c} has a permit of slot {s}", slot, s)
	case refusals > waitersNodes-waitersQuorum:
		do("{c} does not get slot {s}, and goes on", slot, m.giveBack(s, c))
	default:
		return false
	}
	return true
}

// giveBack releases the votes for a slot, and goes on to the next or to sleep.
func (m *Waiters) giveBack(s waitersState, c int) waitersState {
	at := &s.clients[c]
	for j := range m.nodes() {
		switch call := &s.nodes[j].calls[c][at.slot]; {
		case call.again:
			call.again = false
		case call.acquire == attempt.Pending:
			call.release = rejoinRelease
		case call.acquire == attempt.Granted:
			*call = slotCall{release: rejoinRelease}
		default:
			call.acquire = attempt.Unsent
		}
	}
	alone := m.Rules.LooksAtPreferred && m.PerSlot
	if int(at.tried) < m.Slots && !alone {
		return m.ask(s, c, (int(at.slot)+1)%m.Slots, at.tried+1)
	}
	first := uint8(int(at.slot)+1) % uint8(m.Slots)
	at.phase, at.slot, at.tried = sleeping, 0, 0
	if at.pause, at.named, at.poll = at.named, false, uint8(m.Poll); at.pause {
		at.slot = first
	}
	return s
}

// crash ends a client: nobody renews what it has, and what is under way is lost.
func (m *Waiters) crash(s waitersState, c int) waitersState {
	s.crashes++
	s.clients[c] = waitersClient{phase: crashed, ticket: s.clients[c].ticket}
	for j := range m.nodes() {
		for slot := range m.Slots {
			s.nodes[j].calls[c][slot] = slotCall{}
			s.nodes[j].orphan(m, c, slot)
		}
	}
	return s
}

// tick lets time pass.
func (m *Waiters) tick(s waitersState) waitersState {
	free := m.anyFree(&s)
	for c := range s.clients {
		at := &s.clients[c]
		if at.pause && at.phase == sleeping && !m.Rules.NoRetry {
			if at.wake == 0 {
				at.wake, at.retry = at.slot+1, true
			}
			at.slot = 0
		}
		at.pause = false
		if at.phase != sleeping {
			continue
		}
		at.poll = max(at.poll, 1) - 1
		if at.starve = min(at.starve+1, uint8(m.Bound)+1); !free {
			at.starve = 0
		}
	}
	for slot := range m.Slots {
		if kept := &s.next[slot]; kept.client != 0 {
			if kept.left = max(kept.left, 1) - 1; kept.left == 0 {
				*kept = reservation{}
			}
		}
	}
	for j := range m.nodes() {
		for slot := range m.Slots {
			if left := &s.nodes[j].left[slot]; *left > 0 {
				if *left--; *left == 0 {
					s.nodes[j].holder[slot] = 0
				}
			}
		}
	}
	return s
}
