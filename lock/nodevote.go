package lock

import (
	"fmt"
	"strings"
)

// NodeVote is what one node had done when a round of calls was over.
type NodeVote struct {
	Node    string
	Verdict Verdict
	Err     error // why the node failed; nil with every other verdict
}

// text is the vote as a part of an error of that operation.
func (v NodeVote) text(op Operation) string {
	if v.Err != nil {
		return fmt.Sprintf("%s: %v", v.Node, v.Err)
	}
	said := string(v.Verdict)
	switch {
	case v.Verdict == VerdictUnheard:
		said = "not waited for"
	case v.Verdict == VerdictNotAsked:
		said = "not asked"
	case v.Verdict == VerdictRefused && op != OpAcquire:
		said = "not held"
	case v.Verdict == VerdictGranted && op == OpRelease:
		said = "released"
	case v.Verdict == VerdictGranted && op == OpExtend:
		said = "renewed"
	}
	return v.Node + ": " + said
}

// textOf is what all nodes did, in brackets. Neighbours that did the same share a verdict.
func textOf(op Operation, votes []NodeVote) string {
	var b strings.Builder
	for i, v := range votes {
		switch {
		case i == 0:
			b.WriteString(" (")
		case v.like(votes[i-1]):
			b.WriteString(", ")
		default:
			b.WriteString("; ")
		}
		if i+1 < len(votes) && v.like(votes[i+1]) {
			b.WriteString(v.Node)
			continue
		}
		b.WriteString(v.text(op))
	}
	if b.Len() > 0 {
		b.WriteByte(')')
	}
	return b.String()
}

func (v NodeVote) like(w NodeVote) bool {
	return v.Err == nil && w.Err == nil && v.Verdict == w.Verdict
}

// nodeSets are what is known of a round's nodes, as sets of their indices. A node that was asked and
// is in none of the others, nor has an error, was not waited for.
type nodeSets struct{ asked, granted, refused, refilled uint64 }

// votes says of each node of the attempt what it did, with the errors of those that failed.
func (a *attempt) votes(s nodeSets, errs []*NodeError) []NodeVote {
	votes := make([]NodeVote, len(a.grants))
	for i := range votes {
		v, bit := &votes[i], uint64(1)<<i
		v.Node = a.grants[i].Name()
		switch {
		case s.granted&bit != 0:
			v.Verdict = VerdictGranted
		case s.refilled&bit != 0:
			v.Verdict = VerdictRefilled
		case s.refused&bit != 0:
			v.Verdict = VerdictRefused
		case s.asked&bit != 0:
			v.Verdict = VerdictUnheard
		default:
			v.Verdict = VerdictNotAsked
		}
	}
	for _, e := range errs {
		votes[e.index].Verdict, votes[e.index].Err = VerdictFailed, e.Err
	}
	return votes
}

// failure is the error of the attempt's i-th node.
func (a *attempt) failure(i int, op Operation, err error) *NodeError {
	return &NodeError{Node: a.grants[i].Name(), Op: op, Err: err, index: i}
}

// noQuorum is the error of a round that no quorum granted.
func (a *attempt) noQuorum(op Operation, s nodeSets, errs []*NodeError) *QuorumError {
	e := &QuorumError{
		Resource: a.start.Resource, Op: op, Nodes: len(a.grants), Quorum: a.engine.quorum,
		Errors: errs, Votes: a.votes(s, errs),
	}
	e.Granted = e.Count(VerdictGranted)
	e.Refused = e.Count(VerdictRefused) + e.Count(VerdictRefilled)
	return e
}

// unfinished is what the nodes had done when the attempt was cut short; nil if none had been asked.
func (a *attempt) unfinished() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ballot.asked == 0 {
		return nil
	}
	return &cutError{
		text: fmt.Sprintf("the attempt was cut short with %d of %d nodes having granted%s", a.ballot.tally.granted,
			len(a.grants), textOf(OpAcquire, a.votes(a.ballot.sets(), a.ballot.errs))),
		errs: asErrors(a.ballot.errs),
	}
}

// cutError is a round that was cut short: its text accounts for every node, and errs are what those that failed
// said.
type cutError struct {
	text string
	errs []error
}

func (e *cutError) Error() string { return e.text }

// Unwrap returns the nodes' errors.
func (e *cutError) Unwrap() []error { return e.errs }
