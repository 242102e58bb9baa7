package nodes

import "github.com/lockscope/lockscope/lock/proof/spec/internal/explore"

// vouchSteps are what people may declare: that all nodes are new, or that one that
// restarted has forgotten nothing.
func (m *Guard) vouchSteps(s guardState, each func(explore.Step, guardState)) {
	if int(s.vouches) < m.Vouches && !s.vouching {
		to := s
		to.vouches, to.vouching = to.vouches+1, true
		each(explore.Step{Text: "somebody vouches for all nodes"}, to)
	}
	if s.vouching {
		m.firstRound(s, each)
	}
	for j, n := range s.nodes {
		if n.confirming {
			m.confirm(s, j, each)
		}
		m.declare(s, j, each)
	}
}

// firstRound marks each node, and needs all of them: that are new, and were never used.
func (m *Guard) firstRound(s guardState, each func(explore.Step, guardState)) {
	all, traces := true, m.Untrue || !s.used
	for j, n := range s.nodes {
		traces = traces || n.used
		if n.marked {
			all = all && (m.leftOut(n) || !n.used)
			continue
		}
		all = false
		to := s
		own := m.isOwn(&n)
		switch at := &to.nodes[j]; {
		case m.leftOut(n), n.marker.state == voting && own:
			at.marked = true
			each(explore.Step{Text: "the vouch finds that {n} votes", Node: j}, to)
		case n.marker.state == noMarker, n.marker.state == quarantined && own:
			at.marked = true
			at.marker = at.ownMarker(quarantined)
			at.marker.identity = vouchIdentity
			each(explore.Step{Text: "the vouch marks {n}", Node: j}, to)
		}
	}
	if !all || !traces {
		return // what people say is true, unless that is the fault
	}
	s.vouching = false
	for j := range s.nodes {
		n := &s.nodes[j]
		n.marked, n.confirming = false, n.marker.state != voting
	}
	each(explore.Step{Text: "the vouch has marked all nodes, and none was used: it confirms"}, s)
}

// leftOut is where a vouch asks only those that do not vote.
func (m *Guard) leftOut(n guardNode) bool {
	return m.Rules.VouchForSome && n.marker.state == voting
}

// confirm is the second round. It may arrive late, and again.
func (m *Guard) confirm(s guardState, j int, each func(explore.Step, guardState)) {
	n := &s.nodes[j]
	ours := n.marker.state == quarantined && m.isOwn(n) && n.marker.identity == vouchIdentity
	if ours || m.Rules.VouchWithoutNonce {
		n.marker = n.ownMarker(voting)
		each(explore.Step{Text: "the vouch lets {n} vote", Node: j}, s)
	}
}

// declare is the vouch for one node that restarted with all it had, which a person has
// made sure of. It, too, may arrive late, and again.
func (m *Guard) declare(s guardState, j int, each func(explore.Step, guardState)) {
	n := s.nodes[j]
	own := n.marker.state == quarantined && m.isOwn(&n)
	if int(s.restarts) < m.Restarts && own && n.intact && n.declared == 0 {
		to := s
		to.restarts++
		to.nodes[j].declared, to.nodes[j].declaredFor = 1+n.marker.identity, n.generation
		each(explore.Step{Text: "somebody vouches for {n}, which restarted", Node: j}, to)
	}
	if n.declared != 0 && own && n.declaredFor == n.generation &&
		(n.declared == 1+n.marker.identity || m.Rules.VouchAnyQuarantine) {
		s.nodes[j].marker = n.ownMarker(voting)
		each(explore.Step{Text: "the vouch for one node lets {n} vote", Node: j}, s)
	}
}
