package constructs

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// Steps implements [explore.Model].
func (m *Election) Steps(s electionState, each func(explore.Step, electionState)) {
	urgent := false
	for c := range m.Candidates {
		do := func(text string, j int, to electionState) { each(explore.Step{Text: text, Client: c, Node: j}, to) }
		urgent = m.candidateSteps(s, c, do) || urgent
		for j := range s.nodes {
			call := s.nodes[j].calls[c]
			urgent = urgent || call.acquire == attempt.Pending || call.acquire == attempt.Late ||
				call.release == attempt.Releasing
			m.callSteps(s, c, j, do)
		}
	}
	if m.Vacancy == 0 || !urgent {
		each(explore.Step{Text: "a tick passes"}, m.tick(s))
	}
}

// candidateSteps reports that the candidate could go on at once.
func (m *Election) candidateSteps(s electionState, c int, do func(string, int, electionState)) (urgent bool) {
	at := s.candidates[c]
	switch at.stage {
	case outside:
		to := s
		to.candidates[c].stage = inLine
		to.queue(c)
		do("{c} joins the line", 0, to)
	case inLine:
		if s.first() == c && int(at.asks) < m.Asks && m.settled(&s, c) && m.mayWin(&s) {
			do("{c} is the first in line, and asks all nodes", 0, m.ask(s, c))
			urgent = true
		}
	case campaigning:
		urgent = m.campaignSteps(s, c, do)
	case leads:
		to := s
		to.candidates[c].stage = resigning
		do("{c} resigns and sends releases", 0, m.release(to, c))
		m.renew(s, c, do)
	case resigning:
		if m.Rules.ResignForgets {
			m.renew(s, c, do)
		}
	case left:
		if int(at.campaigns) < m.Again && !at.cancelled && m.settled(&s, c) {
			do("{c} campaigns again", 0, m.again(s, c))
			urgent = true
		}
	}
	if int(s.crashed) < m.Crashes && at.stage != outside && at.stage != left {
		s.crashed++
		s.candidates[c] = candidate{stage: left, cancelled: true}
		for j := range s.nodes {
			s.nodes[j].calls[c] = electionCall{}
		}
		do("{c} crashes", 0, s)
	}
	return urgent
}

// mayWin reports that a quorum of the nodes is free: who asks before is refused, and waits again.
func (m *Election) mayWin(s *electionState) bool {
	free := 0
	for c := range s.candidates {
		if m.InTurn && s.candidates[c].stage == campaigning {
			return false
		}
	}
	for j := range s.nodes {
		free += int(explore.Bit(s.nodes[j].holder == 0))
	}
	return free > electionNodes/2
}

// settled reports that no call of an earlier campaign is under way: each has a token of its own.
func (m *Election) settled(s *electionState, c int) bool {
	for j := range s.nodes {
		call := s.nodes[j].calls[c]
		if call.acquire == attempt.Late || call.release == attempt.Releasing {
			return false
		}
	}
	return true
}

func (m *Election) ask(s electionState, c int) electionState {
	at := &s.candidates[c]
	at.stage, at.age = campaigning, 0
	at.asks++
	for j := range s.nodes {
		s.nodes[j].calls[c] = electionCall{acquire: attempt.Pending}
	}
	return s
}

// again is a new campaign after a term, at the back of the line.
func (m *Election) again(s electionState, c int) electionState {
	at := &s.candidates[c]
	ticket := at.ticket
	*at = candidate{stage: inLine, campaigns: at.campaigns + 1}
	if s.queue(c); m.Rules.AgainAtFront {
		at.ticket = ticket
	}
	for j := range s.nodes {
		s.nodes[j].calls[c] = electionCall{}
	}
	return s
}

func (m *Election) campaignSteps(s electionState, c int, do func(string, int, electionState)) (urgent bool) {
	at := &s.candidates[c]
	grants, refusals := 0, 0
	for j := range s.nodes {
		grants += int(explore.Bit(s.nodes[j].calls[c].acquire == attempt.Granted))
		refusals += int(explore.Bit(s.nodes[j].calls[c].acquire == attempt.Refused))
	}
	if grants > electionNodes/2 && int(at.age) < m.TTL && (!at.cancelled || m.Rules.CancelIgnored) {
		do("{c} has a quorum: its term begins", 0, m.lead(s, c))
		urgent = true
	}
	if refusals > electionNodes/2 {
		to := s
		to.candidates[c].stage = inLine
		do("{c} is refused, gives its votes back and goes back to its place", 0, m.release(to, c))
		urgent = true
	}
	if int(s.cancelled) < m.Cancels && !at.cancelled {
		s.cancelled++
		at.cancelled = true
		if !m.Rules.CancelIgnored {
			at.stage = left
			s = m.release(s, c)
		}
		do("the campaign of {c} is cancelled", 0, s)
	}
	return urgent
}

func (m *Election) lead(s electionState, c int) electionState {
	at := &s.candidates[c]
	term := uint8(0)
	for j := range s.nodes {
		if n := &s.nodes[j]; n.calls[c].acquire == attempt.Granted && (term == 0 || !m.Rules.TermOfTheNode) {
			term = max(term, n.counter)
		}
	}
	for j := range s.nodes {
		n := &s.nodes[j]
		if n.calls[c].acquire == attempt.Granted && !m.Rules.TermOfTheNode && int(n.holder) == c+1 {
			n.counter = term
		}
		if n.calls[c].acquire != attempt.Pending {
			n.calls[c].acquire = attempt.Unsent
		}
	}
	s.backwards = s.backwards || term <= s.newest
	s.newest = max(s.newest, term)
	at.stage, at.left = leads, uint8(m.TTL)-at.age
	for i := range s.candidates {
		other := &s.candidates[i]
		other.overtaken = other.overtaken || m.InTurn && other.stage == inLine && other.arrival < at.arrival
	}
	return s
}

// renew is a round of renewal: it reaches all nodes that have the key, or one less; its answers arrive or hang.
func (m *Election) renew(s electionState, c int, do func(string, int, electionState)) {
	if int(s.renewed) == m.Renewals && !m.Rules.ResignForgets {
		return
	}
	if !m.Rules.ResignForgets {
		s.renewed++
	}
	votes := 0
	for j := range s.nodes {
		if int(s.nodes[j].holder) == c+1 {
			s.nodes[j].ttl = uint8(m.TTL)
			votes++
		}
	}
	do("the nodes renew the lease of {c}, and the answers hang", 0, s)
	if votes > electionNodes/2 {
		s.candidates[c].left = uint8(m.TTL)
		do("{c} renews its term", 0, s)
	}
}
