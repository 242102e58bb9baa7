package lock

import (
	"fmt"
	"strings"
	"time"
)

// WaitError says that a wait was cut short: by the caller's context or by the
// wait budget. It keeps both why it ended and what the last attempt had met, and
// matches either with [errors.Is].
type WaitError struct {
	Resource string
	Attempts int           // attempts made
	Waited   time.Duration // since Acquire was called
	Last     error         // what the last attempt met, or that of the caller in front; nil if none is known
	Err      error         // the context's error, ErrMaxWait or ErrClosed
}

func (e *WaitError) Error() string {
	s := fmt.Sprintf("lock: gave up %q after %v and %d attempts: %v",
		e.Resource, e.Waited.Round(time.Millisecond), e.Attempts, e.Err)
	if e.Last != nil {
		s += ": " + e.Last.Error()
	}
	return s
}

// Unwrap returns why the wait ended and the last attempt's failure.
func (e *WaitError) Unwrap() []error {
	if e.Last == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Last}
}

// NodeError is what one node answered, or that it did not.
type NodeError struct {
	Node string    // host:port or the alias the node was given
	Op   Operation // what was asked of it
	Err  error
}

func (e *NodeError) Error() string { return fmt.Sprintf("%s %s: %v", e.Node, e.Op, e.Err) }

// Unwrap returns the node's own error.
func (e *NodeError) Unwrap() error { return e.Err }

// HeldError says that the resource is held, and all that is known about its
// holder. It matches [ErrHeld]. It never carries the holder's token.
type HeldError struct {
	Resource string
	Key      string // the lock's key on the nodes
	// Refused of Nodes said so. Fewer than it takes to rule out a quorum happen
	// where one node is asked before the others.
	Refused, Nodes int
	// Granted did, in vain. Nodes in none of Granted, Refused and Errors were not waited for, or not asked.
	Granted int
	// Named is how many of those that refused did so in the name of Holder: others may have
	// the name of an earlier holder, or of an attempt that fails.
	Named int
	// Holder is who wrote the lock; zero if the lock was not written by
	// lockscope, or if it is being handed over.
	Holder Holder
	// Remaining is the longest time the lock can still be held without being
	// renewed; zero if unknown, negative if it never expires by itself.
	Remaining time.Duration
	// HandedOver is true if nobody holds the lock this instant, but it is kept
	// for the waiter whose turn it is.
	HandedOver bool
	// Errors are those of the nodes that did not answer: so few that the holder is
	// what keeps the resource from being acquired.
	Errors []*NodeError
}

// Unwrap returns the nodes' errors.
func (e *HeldError) Unwrap() []error { return asErrors(e.Errors) }

// Is makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

func (e *HeldError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lock: %q is ", e.Resource)
	switch {
	case e.HandedOver:
		b.WriteString("being handed to the next waiter")
	case e.Holder.Instance != "":
		fmt.Fprintf(&b, "held by %s", e.Holder.Instance)
		if e.Holder.CallSite != "" {
			fmt.Fprintf(&b, " at %s", e.Holder.CallSite)
		}
		fmt.Fprintf(&b, " since %s", e.Holder.Since.UTC().Format(time.RFC3339Nano))
	default:
		b.WriteString("held by an unknown owner")
	}
	switch {
	case e.Remaining > 0:
		fmt.Fprintf(&b, ", for at most %v unless renewed", e.Remaining.Round(time.Millisecond))
	case e.Remaining < 0:
		fmt.Fprintf(&b, " and never expires: delete the key %q by hand once you know its owner is gone", e.Key)
	}
	for _, err := range e.Errors {
		b.WriteString("; ")
		b.WriteString(err.Error())
	}
	return b.String()
}

// QuorumError says that fewer than a quorum of nodes took part, with what every node of the
// set did. It matches [ErrNoQuorum] and every node's error.
type QuorumError struct {
	Resource string
	Op       Operation
	Nodes    int // nodes configured
	Quorum   int // votes needed
	Granted  int
	Refused  int
	Errors   []*NodeError // of the nodes that failed
	// Votes has one entry for each node, in the order of the engine's nodes: those that granted,
	// refused or failed, those that nobody waited for, and those that were not asked. Without it the
	// remainder of Nodes counts as not waited for.
	Votes NodeVotes
}

func (e *QuorumError) Error() string {
	var b strings.Builder
	b.WriteString("lock: ")
	if e.Resource != "" {
		b.WriteString(e.Resource + ": ")
	}
	b.WriteString("no quorum")
	if e.Op != "" && e.Op != OpAcquire {
		fmt.Fprintf(&b, " for %s", e.Op)
	}
	fmt.Fprintf(&b, ": %d of %d nodes granted, %d needed", e.Granted, e.Nodes, e.Quorum)
	if votes := e.Votes; len(votes) > 0 {
		b.WriteString(votes.Text(e.Op))
	} else {
		b.WriteString(e.sums())
	}
	b.WriteString(". " + e.advice())
	return b.String()
}

// sums is the text of an error that does not name the nodes without an error.
func (e *QuorumError) sums() string {
	var parts []string
	if e.Refused > 0 {
		parts = append(parts, fmt.Sprintf("%d refused", e.Refused))
	}
	for _, err := range e.Errors {
		parts = append(parts, NodeVote{Node: err.Node, Err: err.Err}.text(e.Op))
	}
	if rest := e.Count(VerdictUnheard); rest > 0 {
		parts = append(parts, fmt.Sprintf("%d not waited for", rest))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// advice is what helps: where all nodes answered, other callers have the rest of them.
func (e *QuorumError) advice() string {
	if remedy := e.remedy(); remedy != "" {
		return remedy
	}
	if e.Refused > 0 && e.Granted+e.Refused == e.Nodes {
		return "Try again: other callers have the other nodes."
	}
	return `Check the nodes with "lockscope doctor".`
}

// Count is how many nodes have that verdict. The counts of all verdicts add up to Nodes.
func (e *QuorumError) Count(v Verdict) (n int) {
	if len(e.Votes) > 0 {
		for _, vote := range e.Votes {
			if vote.Verdict == v {
				n++
			}
		}
		return n
	}
	switch v {
	case VerdictGranted:
		return e.Granted
	case VerdictRefused:
		return e.Refused
	case VerdictFailed:
		return len(e.Errors)
	case VerdictUnheard:
		return max(e.Nodes-e.Granted-e.Refused-len(e.Errors), 0)
	}
	return 0
}

// Unwrap returns ErrNoQuorum and the nodes' errors.
func (e *QuorumError) Unwrap() []error {
	all := []error{ErrNoQuorum}
	for _, err := range e.Errors {
		all = append(all, err)
	}
	return all
}

// Outcome says what a release found on the nodes.
type Outcome string

// The outcomes of a release.
const (
	OutcomeReleased Outcome = "released"  // the nodes held the lease and let it go
	OutcomeExpired  Outcome = "expired"   // no node held it any more
	OutcomeNotOwner Outcome = "not_owner" // somebody else holds the resource by now
	OutcomeUnknown  Outcome = "unknown"   // too few nodes answered to tell
)

// ReleaseError is a release that found no lease to release, or could not tell.
// For OutcomeUnknown it matches the error of the context that cut the waiting short, if one
// did, and [ErrNoQuorum] unless that was before a quorum's answers were out of reach.
// It matches [ErrNotHeld] for OutcomeExpired, for OutcomeNotOwner
// and whenever the lease had been lost before.
type ReleaseError struct {
	Resource string
	Outcome  Outcome
	Lost     bool  // the lease was over before the release
	Unknown  int   // nodes that did not answer; their key ends with its TTL at the latest
	Cut      error // why no more answers were waited for, if the caller's context ended; the release goes on
	Errors   []*NodeError
	// Votes says what every node answered, in the order of the engine's nodes.
	Votes NodeVotes
}

func (e *ReleaseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lock: release of %q: ", e.Resource)
	switch e.Outcome {
	case OutcomeExpired:
		b.WriteString("it had already expired; the work may have outlived the lease")
	case OutcomeNotOwner:
		b.WriteString("it has expired and somebody else holds it now; the work outlived the lease")
	case OutcomeUnknown:
		b.WriteString("unknown on ")
		if len(e.Votes) > 0 {
			fmt.Fprintf(&b, "%d of %d nodes", e.Unknown, len(e.Votes))
		} else {
			fmt.Fprintf(&b, "%d nodes", e.Unknown)
		}
		b.WriteString(", where it ends with its TTL at the latest")
		if e.Cut != nil {
			fmt.Fprintf(&b, ", if not by this release, which goes on: %v", e.Cut)
		}
	}
	if len(e.Votes) > 0 {
		b.WriteString(e.Votes.Text(OpRelease))
		return b.String()
	}
	for _, err := range e.Errors {
		b.WriteString("; ")
		b.WriteString(err.Error())
	}
	return b.String()
}

// Unwrap returns ErrNotHeld or ErrNoQuorum or both, and the nodes' errors.
func (e *ReleaseError) Unwrap() []error {
	var all []error
	if e.Lost || e.Outcome != OutcomeUnknown {
		all = append(all, ErrNotHeld)
	}
	if e.Cut != nil {
		all = append(all, e.Cut)
	}
	if e.Outcome == OutcomeUnknown && !e.cutEarly() {
		all = append(all, ErrNoQuorum)
	}
	for _, err := range e.Errors {
		all = append(all, err)
	}
	return all
}

// cutEarly reports that the nodes that were not given the time to answer could have been a quorum.
func (e *ReleaseError) cutEarly() bool {
	return e.Cut != nil && len(e.Votes) > 0 && len(e.Errors) <= (len(e.Votes)-1)/2
}

func asErrors(nodes []*NodeError) (all []error) {
	for _, e := range nodes {
		all = append(all, e)
	}
	return all
}
