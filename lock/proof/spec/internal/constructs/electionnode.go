package constructs

import "github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"

// callSteps are the calls of candidate c that node j may carry out next.
func (m *Election) callSteps(s electionState, c, j int, do func(string, int, electionState)) {
	call := s.nodes[j].calls[c]
	switch call.acquire {
	case attempt.Pending:
		to := s
		text := "{n} refuses {c}"
		if to.nodes[j].calls[c].acquire = attempt.Refused; to.nodes[j].acquire(m, c) {
			to.nodes[j].calls[c].acquire = attempt.Granted
			text = "{n} votes for {c}"
		}
		if to.candidates[c].stage == leads {
			to.nodes[j].calls[c].acquire = attempt.Unsent
		}
		do(text, j, to)
	case attempt.Late:
		to := s
		to.nodes[j].acquire(m, c)
		to.nodes[j].calls[c].acquire = attempt.Unsent
		do("{n} carries out a late acquire of {c}", j, to)
	}
	if call.release != attempt.Releasing {
		return
	}
	to := s
	to.nodes[j].release(m, c)
	do("{n} carries out the release of {c}", j, m.resigned(to, c))
	if int(s.lost) < m.Lost {
		s.lost++
		if s.nodes[j].calls[c].release = attempt.NotReleased; s.candidates[c].stage == resigning && !m.Rules.ResignForgets {
			s.nodes[j].calls[c].release = attempt.Releasing // it is sent again
		}
		do("{n} does not get the release of {c}", j, s)
	}
}

func (n *electionNode) acquire(m *Election, c int) bool {
	if n.holder != 0 || n.calls[c].release == attempt.Buried {
		return false
	}
	n.holder, n.ttl = uint8(c)+1, uint8(m.TTL)
	n.counter++
	return true
}

func (n *electionNode) release(m *Election, c int) {
	if int(n.holder) == c+1 {
		n.holder, n.ttl = 0, 0
	}
	call := &n.calls[c]
	if call.release = attempt.Undone; call.unknown && !m.Rules.NoTombstone {
		call.release = attempt.Buried
	}
}

// resigned ends a resignation when a majority of the nodes has answered.
func (m *Election) resigned(s electionState, c int) electionState {
	answers := 0
	for j := range s.nodes {
		if r := s.nodes[j].calls[c].release; r == attempt.Undone || r == attempt.Buried {
			answers++
		}
	}
	if at := &s.candidates[c]; at.stage == resigning && answers > electionNodes/2 {
		at.stage, at.left = left, 0
	}
	return s
}

func (m *Election) tick(s electionState) electionState {
	leader, candidates := false, false
	for c := range s.candidates {
		at := &s.candidates[c]
		leader = leader || at.stage == leads
		candidates = candidates || at.stage == inLine || at.stage == campaigning
		switch at.stage {
		case campaigning:
			if at.age++; int(at.age) >= m.TTL {
				at.stage = inLine
				s = m.release(s, c)
			}
		case leads, resigning:
			if at.left = max(at.left, 1) - 1; at.left == 0 {
				m.lose(&s, c)
			}
		}
	}
	for j := range s.nodes {
		n := &s.nodes[j]
		if n.ttl = max(n.ttl, 1) - 1; n.ttl == 0 {
			n.holder = 0
		}
	}
	if s.vacant = min(s.vacant+1, uint8(m.Vacancy)+1); leader || !candidates {
		s.vacant = 0
	}
	return s
}

// lose ends a term, or a resignation, by the timer of its lease.
func (m *Election) lose(s *electionState, c int) {
	at := &s.candidates[c]
	if at.stage == leads && m.Rules.EndsByAnswer || at.stage == resigning && m.Rules.ResignForgets {
		return
	}
	if at.stage == leads {
		*s = m.release(*s, c)
	}
	at.stage = left
}

// release gives back what a campaign has, or may still get, on every node.
func (m *Election) release(s electionState, c int) electionState {
	for j := range s.nodes {
		call := &s.nodes[j].calls[c]
		switch call.acquire {
		case attempt.Pending:
			call.acquire, call.unknown = attempt.Late, true
		default:
			call.acquire = attempt.Unsent
		}
		call.release = attempt.Releasing
	}
	return s
}
