package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"

// renew is a round of renewal. It reaches all nodes, or all but one.
func (m *Shared) renew(s sharedState, c int, do func(string, int, sharedState)) {
	s.renewed++
	for without := -1; without < sharedNodes; without++ {
		to := s
		votes := 0
		for j := range to.nodes {
			if j != without && to.nodes[j].extend(m, c, to.clients[c].fence) {
				votes++
			}
		}
		if votes >= m.quorum(c) {
			to.clients[c].left = m.ttl(c)
			do("{c} renews its lease", 0, to)
		} else {
			do("{c} does not reach a quorum with its renewal", 0, to)
		}
	}
}

// extend reports a vote. A key that was lost is put back, which is none.
func (n *sharedNode) extend(m *Shared, c int, fence uint8) bool {
	voted := n.has(m, c)
	switch {
	case n.refusesMarked(c, voted && m.Rules.ReaderRenewed || !voted && m.Rules.ReaderRefilled):
		return false
	case voted:
	case n.silent > 0 && !m.Rules.RefillInSilence:
		return false
	case n.writer != 0 && (m.writes(c) || !m.Rules.RefillOverWriter), m.writes(c) && n.readers != [sharedClients]uint8{}:
		return false
	case n.queued != 0 && !m.writes(c):
		return false // it waits for the slot that the key would take
	default:
		n.counter, n.empty = max(n.counter, fence), false
		voted = m.Rules.RefillVotes
	}
	if m.writes(c) {
		n.writer, n.ttl = uint8(c)+1, m.ttl(c)
	} else {
		n.readers[c] = m.ttl(c)
	}
	return voted
}

// drop releases what a client has on every node.
func (s *sharedState) drop(m *Shared, c int) {
	for j := range s.nodes {
		n := &s.nodes[j]
		if n.answers[c] = 0; int(n.writer) == c+1 {
			n.writer, n.ttl = 0, 0
		}
		n.readers[c] = 0
	}
}

// giveBack undoes the votes of an attempt, and begins another at its place in the queue.
func (m *Shared) giveBack(s sharedState, c int) sharedState {
	s.drop(m, c)
	m.retry(&s, c)
	return s
}

// retry begins another attempt, or gives up and leaves the queues.
func (m *Shared) retry(s *sharedState, c int) {
	at := &s.clients[c]
	at.left = m.ttl(c)
	if at.tries++; int(at.tries) <= m.Again {
		s.unmark(c)
		return
	}
	*at = sharedClient{phase: attempt.Over}
	for j := range s.nodes {
		s.nodes[j].queued &^= 1 << c
	}
}

func (m *Shared) end(s sharedState, c int) sharedState {
	s.drop(m, c)
	s.clients[c] = sharedClient{phase: attempt.Over}
	return s
}

// tick lets time pass. What a client does not renew expires: nobody releases it.
func (m *Shared) tick(s sharedState) sharedState {
	for c := range m.Modes {
		at := &s.clients[c]
		at.left = max(at.left, 1) - 1
		switch {
		case at.left > 0:
		case at.phase == attempt.Asking:
			for j := range s.nodes {
				s.nodes[j].answers[c] = 0
			}
			m.retry(&s, c)
		case at.phase == attempt.Held:
			*at = sharedClient{phase: attempt.Over}
		}
	}
	s.tickAct()
	for j := range s.nodes {
		n := &s.nodes[j]
		n.silent = max(n.silent, 1) - 1
		if n.ttl = max(n.ttl, 1) - 1; n.ttl == 0 {
			n.writer = 0
		}
		for r := range n.readers {
			n.readers[r] = max(n.readers[r], 1) - 1
		}
	}
	return s
}

func (n *sharedNode) has(m *Shared, c int) bool {
	if m.writes(c) {
		return int(n.writer) == c+1
	}
	return n.readers[c] > 0
}
