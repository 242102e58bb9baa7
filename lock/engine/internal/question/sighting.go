package question

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// answer is what one node said of a resource.
type answer = Answer[driver.PeekReply]

// answers are those of all nodes to one question, in the order of the nodes.
type answers struct {
	resource string
	quorum   int
	nodes    []answer
}

// said are the nodes that gave the most frequent answer: one holder, or none.
func (p answers) said() (same []answer) {
	for _, a := range p.nodes {
		if a.Err == nil {
			if one := p.like(a.Reply); len(one) > len(same) {
				same = one
			}
		}
	}
	return same
}

func (p answers) like(reply driver.PeekReply) (same []answer) {
	for _, a := range p.nodes {
		if a.Err == nil && a.Reply.Held == reply.Held && a.Reply.Holder == reply.Holder {
			same = append(same, a)
		}
	}
	return same
}

// holder are the nodes in the name of the holder that has a quorum; nil if none has.
func (p answers) holder() []answer {
	for _, a := range p.nodes {
		if a.Err == nil && a.Reply.Held {
			if same := p.like(a.Reply); len(same) >= p.quorum {
				return same
			}
		}
	}
	return nil
}

// free reports that no holder can have a quorum, whatever the nodes without an answer have.
func (p answers) free() bool {
	unknown, most := 0, 0
	for _, a := range p.nodes {
		switch {
		case a.Err != nil:
			unknown++
		case a.Reply.Held:
			most = max(most, len(p.like(a.Reply)))
		}
	}
	return most+unknown < p.quorum
}

// decided reports that no further answer can matter. A quorum whose counters differ is not enough:
// each further answer may show that the fence is higher.
func (p answers) decided() bool {
	waits := slices.ContainsFunc(p.nodes, func(a answer) bool { return !a.Answered })
	if !waits || p.free() {
		return true
	}
	same := p.holder()
	return same != nil && !slices.ContainsFunc(same, func(a answer) bool {
		return a.Reply.Counter != same[0].Reply.Counter
	})
}

func (p answers) sighting() (lock.Sighting, error) {
	same := p.holder()
	switch {
	case same != nil:
		return p.held(same), nil
	case p.free():
		return lock.Sighting{}, nil
	}
	return lock.Sighting{}, p.undecided()
}

// held describes the holder that these nodes name. Some quorum granted the lease: the fence is the
// largest counter of its grants, and none of them may end before the lease. The nodes that are
// missing here may be in that quorum, so it has sure or more of these. That bounds both: the fence is
// not below the sure-th smallest counter, and the lease does not outlive the sure-th latest end.
func (p answers) held(same []answer) lock.Sighting {
	s := lock.Sighting{Held: true}
	s.Holder, _ = records.ParseHolder(same[0].Reply.Holder)
	sure := p.quorum - (len(p.nodes) - len(same))
	slices.SortFunc(same, func(x, y answer) int { return cmp.Compare(x.Reply.Counter, y.Reply.Counter) })
	s.Fence = same[sure-1].Reply.Counter
	var ends []time.Time
	for _, a := range same {
		if a.Reply.TTL >= 0 {
			ends = append(ends, a.At.Add(a.Reply.TTL))
		}
	}
	slices.SortFunc(ends, func(x, y time.Time) int { return y.Compare(x) })
	if endless := len(same) - len(ends); endless < sure {
		s.NotAfter = ends[sure-1-endless]
	}
	return s
}

func (p answers) undecided() *lock.QuorumError {
	most := p.said()
	return NoQuorum(p.resource, lock.OpPeek, p.quorum, p.nodes, func(a answer) bool {
		return slices.ContainsFunc(most, func(m answer) bool { return m.Node == a.Node })
	})
}

// Describe describes the holder that these answers name: those of a quorum, of so many nodes.
func Describe(same []Answer[driver.PeekReply], quorum, nodes int) lock.Sighting {
	return answers{quorum: quorum, nodes: make([]answer, nodes)}.held(same)
}
