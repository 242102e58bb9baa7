package engine

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/quorum"
)

// nodeSets are the nodes of a round by what they did, as sets of their indices. A node that was asked, is in no
// other set and has no error was not waited for.
type nodeSets struct{ asked, granted, refused, refilled uint64 }

// nodeNames are the names of the nodes, in their order.
type nodeNames []string

// votes says of each node what it did, with the errors of those that failed.
func (ns nodeNames) votes(s nodeSets, failed failures) lock.NodeVotes {
	votes := make(lock.NodeVotes, len(ns))
	for i := range votes {
		v, bit := &votes[i], uint64(1)<<i
		v.Node = ns[i]
		switch {
		case s.granted&bit != 0:
			v.Verdict = lock.VerdictGranted
		case s.refilled&bit != 0:
			v.Verdict = lock.VerdictRefilled
		case s.refused&bit != 0:
			v.Verdict = lock.VerdictRefused
		case s.asked&bit != 0:
			v.Verdict = lock.VerdictUnheard
		default:
			v.Verdict = lock.VerdictNotAsked
		}
	}
	for _, f := range failed {
		votes[f.node].Verdict, votes[f.node].Err = lock.VerdictFailed, f.Err
	}
	return votes
}

// failure is the error of one node.
type failure struct {
	*lock.NodeError
	node int // its index in the engine
}

func (ns nodeNames) failure(node int, op lock.Operation, err error) failure {
	return failure{NodeError: &lock.NodeError{Node: ns[node], Op: op, Err: err}, node: node}
}

// errSilent is the error of a node that did not answer within the timeout.
func errSilent(timeout time.Duration) error {
	return fmt.Errorf("%w of %v", driver.ErrTimeout, timeout)
}

// failures are those of a round.
type failures []failure

// nodeErrors are the failures as callers find them in an error.
func (fs failures) nodeErrors() (all []*lock.NodeError) {
	for _, f := range fs {
		all = append(all, f.NodeError)
	}
	return all
}

// tree is the failures as a list to unwrap.
func (fs failures) tree() (all []error) {
	for _, f := range fs {
		all = append(all, f.NodeError)
	}
	return all
}

// noQuorum is the error of a round about the resource that no quorum granted.
func (ns nodeNames) noQuorum(resource string, op lock.Operation, s nodeSets, failed failures) *lock.QuorumError {
	e := &lock.QuorumError{
		Resource: resource, Op: op, Nodes: len(ns), Quorum: quorum.Of(len(ns)),
		Errors: failed.nodeErrors(), Votes: ns.votes(s, failed),
	}
	e.Granted = e.Count(lock.VerdictGranted)
	e.Refused = e.Count(lock.VerdictRefused) + e.Count(lock.VerdictRefilled)
	return e
}

// cutError is the error of a round that was cut short. Its text accounts for every node; errs are the errors of
// those that failed.
type cutError struct {
	text string
	errs []error
}

func (e *cutError) Error() string { return e.text }

// Unwrap returns the nodes' errors.
func (e *cutError) Unwrap() []error { return e.errs }
