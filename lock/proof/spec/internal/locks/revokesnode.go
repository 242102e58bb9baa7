package locks

import (
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// nodeSteps are the calls of client c that node j may carry out next.
func (m *Revokes) nodeSteps(s revokesState, c, j int, do func(string, revokesState)) {
	n := &s.nodes[j]
	at := &s.clients[c]
	if (at.phase == attempt.Asking || at.phase == attempt.Held) && n.granted&(1<<c) == 0 {
		to := s
		if to.nodes[j].acquire(m, c) {
			do("{n} grants {c}", to)
		}
	}
	if n.extends[c] == attempt.Extending {
		to := s
		text := "{n} does not extend for {c}, or puts the key back"
		to.nodes[j].extends[c] = attempt.NotVoted
		if to.nodes[j].extend(m, c, at.handed) {
			to.nodes[j].extends[c], text = attempt.Extended, "{n} extends the lock of {c}"
		}
		do(text, to)
		if int(s.lost) < m.Lost {
			to.lost++
			to.nodes[j].extends[c] = attempt.NotVoted
			do("{n} carries out the extend of {c}, and its answer is lost", to)
		}
	}
	if n.late&(1<<c) != 0 {
		to := s
		to.nodes[j].extend(m, c, at.handed)
		to.nodes[j].late &^= 1 << c
		do("{n} carries out a late extend of {c}", to)
	}
}

// acquire is acquire.lua, for a token that was not granted here before.
func (n *revokesNode) acquire(m *Revokes, c int) bool {
	if n.silent > 0 || n.holder != 0 || n.buried&(1<<c) != 0 {
		return false
	}
	if n.marks[c] > 0 && !m.Rules.LateGrant {
		return false
	}
	n.holder, n.ttl = uint8(c)+1, uint8(m.TTL)
	n.granted |= 1 << c
	return true
}

// extend is extend.lua: it reports a vote. A key that was lost is put back, which is none.
func (n *revokesNode) extend(m *Revokes, c int, handed bool) bool {
	has := int(n.holder) == c+1
	if n.isMarked(m, c, handed) && (has || !m.Rules.RefillIgnoresMark) {
		return false
	}
	if !has && (n.holder != 0 || n.silent > 0 || n.buried&(1<<c) != 0) {
		return false
	}
	n.holder, n.ttl = uint8(c)+1, uint8(m.TTL)
	return has
}

func (n *revokesNode) isMarked(m *Revokes, c int, handed bool) bool {
	if n.marks[c] == 0 {
		return false
	}
	return !m.Rules.MarkOfLease || handed == (n.forNext&(1<<c) != 0)
}

// mark is what a node does about the mark of act i. A node that may not vote takes none.
func (m *Revokes) mark(s revokesState, i, j int, each func(explore.Step, revokesState)) {
	a, n := &s.acts[i], &s.nodes[j]
	n.asked |= 1 << i
	if n.silent > 0 && !m.Rules.ForgottenCounts {
		each(explore.Step{Text: "{n} may not vote, and is not marked by act {s}", Node: j, Slot: i + 1}, s)
		return
	}
	reply := n.mark(m, int(a.target)-1, a.handed)
	if int(s.lost) < m.Lost {
		to := s
		to.lost++
		each(explore.Step{Text: "{n} is marked by act {s}, and its answer is lost", Node: j, Slot: i + 1}, to)
	}
	n.replies[i] = reply + 1
	each(explore.Step{Text: "{n} is marked by act {s}", Node: j, Slot: i + 1}, s)
}

// mark is revoke.lua, for one token. It returns the TTL that is left of its key.
func (n *revokesNode) mark(m *Revokes, token int, handed bool) (ttl uint8) {
	has := int(n.holder) == token+1
	if has {
		ttl = n.ttl
	}
	if m.Rules.OneMark {
		n.marks = [revokesClients]uint8{}
	}
	if has || !m.Rules.MarkWithKey {
		n.marks[token] = m.keep()
	}
	n.forNext &^= 1 << token
	if handed && m.Rules.MarkOfLease {
		n.forNext |= 1 << token
	}
	if has && m.Rules.DeletesKey {
		n.holder, n.ttl = 0, 0
	}
	return ttl
}

func (n *revokesNode) tick(m *Revokes) {
	n.silent = max(n.silent, 1) - 1
	for token := range n.marks {
		if n.marks[token] == 1 {
			n.late &^= 1 << token // a mark outlives the calls that it bars
		}
		n.marks[token] = max(n.marks[token], 1) - 1
	}
	if n.ttl = max(n.ttl, 1) - 1; n.ttl == 0 {
		if m.Rules.MarkWithKey && n.holder != 0 {
			n.marks[n.holder-1] = 0
		}
		n.holder = 0
	}
}

// faults are what may happen to a node. Either way it has forgotten something, and its quarantine begins.
func (m *Revokes) faults(s revokesState, j int, each func(explore.Step, revokesState)) {
	n := &s.nodes[j]
	if int(s.wiped) < m.Wipes {
		to := s
		to.wiped++
		to.nodes[j] = revokesNode{silent: uint8(m.TTL), granted: n.granted, late: n.late, extends: n.extends,
			replies: n.replies, asked: n.asked}
		each(explore.Step{Text: "{n} loses all its keys", Node: j}, to)
	}
	if int(s.restored) < m.Restores && n.marks != [revokesClients]uint8{} {
		s.restored++
		n.marks, n.forNext, n.silent = [revokesClients]uint8{}, 0, uint8(m.TTL)
		each(explore.Step{Text: "{n} goes on from a snapshot that was made before it was marked", Node: j}, s)
	}
}
