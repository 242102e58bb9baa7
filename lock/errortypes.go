package lock

import (
	"fmt"
	"strings"
	"time"
)

// WaitError means that a wait was cut short: the caller's context ended, the wait budget was
// spent, or the engine was closed. It wraps that reason and the error of the last attempt.
type WaitError struct {
	Resource string
	Attempts int           // attempts made
	Waited   time.Duration // since Acquire was called
	Last     error         // error of the last attempt, or of the caller in front; nil if unknown
	Err      error         // the context's error, ErrMaxWait or ErrClosed
}

func (e *WaitError) Error() string {
	s := fmt.Sprintf("lock: gave up waiting for %q after %v and %d attempts: %v",
		e.Resource, e.Waited.Round(time.Millisecond), e.Attempts, e.Err)
	if e.Last != nil {
		s += ": " + e.Last.Error()
	}
	return s
}

// Unwrap returns why the wait ended and the error of the last attempt.
func (e *WaitError) Unwrap() []error {
	if e.Last == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Last}
}

// NodeError is the failure of one node: the error it answered, or that it did not answer.
type NodeError struct {
	Node string    // host:port, or its name given with [WithNodeNames]
	Op   Operation // the operation that failed
	Err  error
}

func (e *NodeError) Error() string { return fmt.Sprintf("%s %s: %v", e.Node, e.Op, e.Err) }

// Unwrap returns the node's own error.
func (e *NodeError) Unwrap() error { return e.Err }

// HeldError means that another owner holds the resource, and describes the holder. It matches
// [ErrHeld]. It never carries the holder's token.
type HeldError struct {
	Resource string
	Key      string // the lock's key on the nodes
	// Refused is how many of Nodes refused. It can be too few to rule out a quorum if
	// one node was asked before the others.
	Refused, Nodes int
	// Granted is how many nodes granted the lock; these grants were undone. Nodes not counted
	// anywhere had not answered, or were not asked.
	Granted int
	// Named is how many of the nodes that refused named Holder. The others may name an
	// earlier holder, or an attempt that will fail.
	Named int
	// Holder describes the process that wrote the lock. It is zero if another library
	// wrote the lock, or while the lock is being handed over.
	Holder Holder
	// Remaining is the longest time that the lock lives without renewal; zero if
	// unknown, negative if the lock never expires by itself.
	Remaining time.Duration
	// HandedOver is true if nobody holds the lock, but it is reserved for the next waiter. For a
	// reader of a read/write lock it means that a writer waits in front.
	HandedOver bool
	// SlotsKnown is true if the nodes have compared the number of slots of a semaphore. Then the
	// number in Holder may be out of date, from before a change.
	SlotsKnown bool
	// Errors are those of the nodes that failed. They are too few to matter: the resource could not
	// be acquired because of the holder.
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
		if e.Holder.Done {
			b.WriteString("kept for the minimum hold of " + e.Holder.Instance)
		} else {
			b.WriteString("held by " + e.Holder.Instance)
		}
		if e.Holder.CallSite != "" {
			fmt.Fprintf(&b, " at %s", e.Holder.CallSite)
		}
		fmt.Fprintf(&b, " since %s", e.Holder.Since.UTC().Format(time.RFC3339Nano))
		if e.Holder.Reason != "" {
			fmt.Fprintf(&b, " (reason: %s)", e.Holder.Reason)
		}
	default:
		b.WriteString("held by an unknown owner")
	}
	switch {
	case e.Remaining > 0 && e.Holder.Done:
		fmt.Fprintf(&b, ", for %v more", e.Remaining.Round(time.Millisecond))
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

// QuorumError means that fewer than a quorum of nodes granted the request. It lists what every
// node did. It matches [ErrNoQuorum] and every node's error.
type QuorumError struct {
	Resource string
	Op       Operation
	Nodes    int // nodes configured
	Quorum   int // votes needed
	Granted  int // of [OpPeek]: nodes that gave the most frequent answer
	Refused  int
	Errors   []*NodeError // one for each node that failed
	// Votes has one entry for each node, in the order of the engine's nodes. If it is empty,
	// Count takes nodes that neither voted nor failed as VerdictUnheard.
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
	did := "granted"
	switch e.Op {
	case OpPeek:
		did = "agree"
	case OpRevoke:
		did = "are marked"
	}
	fmt.Fprintf(&b, ": %d of %d nodes %s, %d needed", e.Granted, e.Nodes, did, e.Quorum)
	if votes := e.Votes; len(votes) > 0 {
		b.WriteString(votes.Text(e.Op))
	} else {
		b.WriteString(e.sums())
	}
	text := b.String()
	if advice := e.advice(); advice != checkNodes || !strings.Contains(text, "lockscope doctor") { // a node's error may say so
		text += ". " + advice
	}
	return text
}

const checkNodes = `Check the nodes with "lockscope doctor".`

// sums is the text of an error without Votes: counts, and the nodes that failed.
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

// advice is the remedy. If all nodes answered, the vote was split: other callers hold the rest.
func (e *QuorumError) advice() string {
	if remedy := e.remedy(); remedy != "" {
		return remedy
	}
	if e.Refused > 0 && e.Granted+e.Refused == e.Nodes {
		return "Try again: the vote was split between several callers."
	}
	return checkNodes
}

// Count returns how many nodes have the verdict. The counts of all verdicts add up to Nodes.
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

func asErrors(nodes []*NodeError) (all []error) {
	for _, e := range nodes {
		all = append(all, e)
	}
	return all
}
