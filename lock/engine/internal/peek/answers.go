package peek

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// answer is what one node said of a resource.
type answer struct {
	name     string
	answered bool
	reply    driver.PeekReply
	at       time.Time // of the answer
	err      error     // also while there is no answer
}

// answers are those of all nodes to one question, in the order of the nodes.
type answers struct {
	resource string
	quorum   int
	nodes    []answer
}

// said are the nodes that gave the most frequent answer: one holder, or none.
func (p *answers) said() (same []answer) {
	for _, a := range p.nodes {
		if a.err == nil {
			if one := p.like(a.reply); len(one) > len(same) {
				same = one
			}
		}
	}
	return same
}

func (p *answers) like(reply driver.PeekReply) (same []answer) {
	for _, a := range p.nodes {
		if a.err == nil && a.reply.Held == reply.Held && a.reply.Holder == reply.Holder {
			same = append(same, a)
		}
	}
	return same
}

// holder are the nodes in the name of the holder that has a quorum; nil if none has.
func (p *answers) holder() []answer {
	for _, a := range p.nodes {
		if a.err == nil && a.reply.Held {
			if same := p.like(a.reply); len(same) >= p.quorum {
				return same
			}
		}
	}
	return nil
}

// free reports that no holder can have a quorum, whatever the nodes without an answer have.
func (p *answers) free() bool {
	unknown, most := 0, 0
	for _, a := range p.nodes {
		switch {
		case a.err != nil:
			unknown++
		case a.reply.Held:
			most = max(most, len(p.like(a.reply)))
		}
	}
	return most+unknown < p.quorum
}

// decided reports that no further answer can matter. A quorum whose counters differ is not enough:
// each further answer may show that the fence is higher.
func (p *answers) decided() bool {
	waits := slices.ContainsFunc(p.nodes, func(a answer) bool { return !a.answered })
	if !waits || p.free() {
		return true
	}
	same := p.holder()
	return same != nil && !slices.ContainsFunc(same, func(a answer) bool {
		return a.reply.Counter != same[0].reply.Counter
	})
}

func (p *answers) sighting() (lock.Sighting, error) {
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
func (p *answers) held(same []answer) lock.Sighting {
	s := lock.Sighting{Held: true}
	s.Holder, _ = records.ParseHolder(same[0].reply.Holder)
	sure := p.quorum - (len(p.nodes) - len(same))
	slices.SortFunc(same, func(x, y answer) int { return cmp.Compare(x.reply.Counter, y.reply.Counter) })
	s.Fence = same[sure-1].reply.Counter
	var ends []time.Time
	for _, a := range same {
		if a.reply.TTL >= 0 {
			ends = append(ends, a.at.Add(a.reply.TTL))
		}
	}
	slices.SortFunc(ends, func(x, y time.Time) int { return y.Compare(x) })
	if endless := len(same) - len(ends); endless < sure {
		s.NotAfter = ends[sure-1-endless]
	}
	return s
}

func (p *answers) undecided() *lock.QuorumError {
	e := &lock.QuorumError{Resource: p.resource, Op: lock.OpPeek, Nodes: len(p.nodes), Quorum: p.quorum}
	most := p.said()
	for _, a := range p.nodes {
		v := lock.NodeVote{Node: a.name, Verdict: lock.VerdictRefused}
		switch {
		case a.err != nil:
			v.Verdict, v.Err = lock.VerdictFailed, a.err
			e.Errors = append(e.Errors, &lock.NodeError{Node: a.name, Op: lock.OpPeek, Err: a.err})
		case slices.ContainsFunc(most, func(m answer) bool { return m.name == a.name }):
			v.Verdict = lock.VerdictGranted
			e.Granted++
		default:
			e.Refused++
		}
		e.Votes = append(e.Votes, v)
	}
	return e
}
