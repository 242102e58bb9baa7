package constructs

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model].
func (m *Shared) Steps(s sharedState, each func(explore.Step, sharedState)) {
	for c := range m.Modes {
		m.clientSteps(s, c, func(text string, j int, to sharedState) {
			each(explore.Step{Text: text, Client: c, Node: j}, to)
		})
	}
	for j := range s.nodes {
		if int(s.wiped) == m.Wipes {
			break
		}
		to := s
		to.wiped++
		to.nodes[j] = sharedNode{empty: true, answers: s.nodes[j].answers, asked: s.nodes[j].asked,
			replied: s.nodes[j].replied, lasts: s.nodes[j].lasts}
		for c := range m.TTLs {
			to.nodes[j].silent = max(to.nodes[j].silent, m.ttl(c))
		}
		if m.Rules.NoQuarantine {
			to.nodes[j].silent = 0
		}
		each(explore.Step{Text: "{n} loses all, and its counter", Node: j}, to)
	}
	m.actSteps(s, each)
	each(explore.Step{Text: "a tick passes"}, m.tick(s))
}

func (m *Shared) clientSteps(s sharedState, c int, do func(string, int, sharedState)) {
	at := &s.clients[c]
	switch at.phase {
	case attempt.Idle:
		do("{c} asks all nodes", 0, m.ask(s, c))
	case attempt.Asking:
		votes := 0
		for j := range s.nodes {
			n := &s.nodes[j]
			if n.answers[c] != 0 {
				votes++
				continue
			}
			to := s
			if to.nodes[j].grant(m, &s, c) {
				do("{n} grants {c}", j, to)
			} else if m.queues(c, j) && n.queued&(1<<c) == 0 {
				to := s
				to.nodes[j].queued |= 1 << c
				do("{n} refuses {c}, which waits there", j, to)
			}
		}
		if votes >= m.quorum(c) {
			m.win(s, c, do)
		}
		if votes > 0 {
			do("{c} gives its votes back", 0, m.giveBack(s, c))
		}
	case attempt.Held:
		do("{c} releases", 0, m.end(s, c))
		if int(s.renewed) < m.Renewals {
			m.renew(s, c, do)
		}
	}
}

func (m *Shared) queues(c, j int) bool {
	return m.Queues && m.writes(c) && (j == 0 || !m.Rules.QueueAtGate)
}

func (m *Shared) ask(s sharedState, c int) sharedState {
	at := &s.clients[c]
	*at = sharedClient{phase: attempt.Asking, left: m.ttl(c), atLeast: s.newestWriter}
	if m.writes(c) {
		at.above = max(s.newestWriter, s.newestReader)
	}
	for w := range m.Modes {
		waits := 0
		for j := range s.nodes {
			waits += int(explore.Bit(s.nodes[j].queued&(1<<w) != 0))
		}
		// A writer that waits on one node alone is where all would look for it.
		if s.clients[w].phase == attempt.Asking && (waits > sharedNodes/2 || waits > 0 && m.Rules.QueueAtGate) {
			at.behind |= 1 << w
		}
	}
	return s
}

// grant is what a node does about an acquire: it reports that it grants.
func (n *sharedNode) grant(m *Shared, s *sharedState, c int) bool {
	if n.silent > 0 || n.writer != 0 {
		return false
	}
	if !m.writes(c) {
		return n.grantReader(m, s, c)
	}
	for r := range n.readers {
		if n.readers[r] > 0 && !m.Rules.ReadersNotCounted {
			return false
		}
	}
	n.counter++
	n.floor(m, s, !m.Rules.NoFloor)
	n.writer, n.ttl, n.answers[c] = uint8(c)+1, m.ttl(c), n.counter+1
	return true
}

func (n *sharedNode) grantReader(m *Shared, s *sharedState, c int) bool {
	if n.queued != 0 && !m.Rules.WriterBarsNobody || n.refusesMarked(c, m.Rules.ReaderGrantedLate) {
		return false
	}
	n.floor(m, s, !m.Rules.NoFloor && !m.Rules.ReaderNotFloored)
	n.readers[c], n.answers[c] = m.ttl(c), n.counter+1
	if m.Rules.OneExpiry {
		for r := range n.readers {
			if n.readers[r] > 0 {
				n.readers[r] = m.ttl(c)
			}
		}
	}
	return true
}

// floor lets a node that lost its counter go on from the client's clock, which is ahead of all
// fences that were handed out.
func (n *sharedNode) floor(m *Shared, s *sharedState, on bool) {
	if n.empty && on {
		n.counter = max(n.counter, max(s.newestWriter, s.newestReader)+1)
		n.empty = false
	}
}

// win agrees on the fence with a quorum.
func (m *Shared) win(s sharedState, c int, do func(string, int, sharedState)) {
	at := &s.clients[c]
	for j := range s.nodes {
		at.fence = max(at.fence, max(s.nodes[j].answers[c], 1)-1)
	}
	agree := 0
	for j := range s.nodes {
		n := &s.nodes[j]
		if n.answers[c] == 0 {
			continue
		}
		switch {
		case n.answers[c]-1 == at.fence || m.Rules.NotRaised:
			agree++
		case n.has(m, c):
			n.counter = max(n.counter, at.fence)
			agree++
		}
	}
	if agree < m.quorum(c) {
		return
	}
	for j := range s.nodes {
		s.nodes[j].queued &^= 1 << c
		s.nodes[j].answers[c] = 0
	}
	at.phase = attempt.Held
	s.wrong = at.fence < at.atLeast || m.writes(c) && at.fence <= at.above
	if m.writes(c) {
		s.newestWriter = max(s.newestWriter, at.fence)
	} else {
		s.newestReader = max(s.newestReader, at.fence)
	}
	do("{c} has a quorum that agrees: its lease is valid", 0, s)
}
