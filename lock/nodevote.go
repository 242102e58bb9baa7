package lock

import (
	"fmt"
	"strings"
)

// Verdict is a node's answer in one word.
type Verdict string

// The verdicts of a node.
const (
	VerdictGranted  Verdict = "granted"  // the node did the operation
	VerdictRefused  Verdict = "refused"  // the node refused: the lock is held, or no longer held
	VerdictFailed   Verdict = "failed"   // the node answered with an error, or not at all
	VerdictRefilled Verdict = "refilled" // the node had lost the key and got it back; no vote
	// These two appear in errors only, never in events:
	VerdictUnheard  Verdict = "unheard"   // the round was over before the node answered
	VerdictNotAsked Verdict = "not_asked" // nothing was sent to the node in this round
)

// NodeVote is what one node did in a round of calls.
type NodeVote struct {
	Node    string
	Verdict Verdict
	Err     error // why the node failed; nil with every other verdict
}

// text is the vote's part of an error of that operation.
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
	case v.Verdict == VerdictGranted && op == OpPeek:
		said = "same answer"
	case v.Verdict == VerdictRefused && op == OpPeek:
		said = "another answer"
	case v.Verdict == VerdictGranted && op == OpRevoke:
		said = "marked"
	case v.Verdict == VerdictRefused && op != OpAcquire:
		said = "not held"
	case v.Verdict == VerdictGranted && op == OpRelease:
		said = "released"
	case v.Verdict == VerdictGranted && op == OpExtend:
		said = "renewed"
	}
	return v.Node + ": " + said
}

// NodeVotes is what each node did in a round of calls, in the order of the engine's nodes.
type NodeVotes []NodeVote

// Text lists the votes of a round of that operation, in parentheses. Neighbours with the same
// verdict share it: " (r1, r2: granted; r3: refused)". It is "" if there are no votes.
func (votes NodeVotes) Text(op Operation) string {
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
