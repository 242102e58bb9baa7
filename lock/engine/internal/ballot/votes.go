package ballot

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// Sets are the nodes of a round by what they did, as sets of their indices. A node that was asked, is in no
// other set and has no error was not waited for.
type Sets struct{ Asked, Granted, Refused, Refilled uint64 }

// Names are the names of the nodes, in their order.
type Names []string

// Votes says of each node what it did, with the errors of those that failed.
func (ns Names) Votes(s Sets, failed Failures) lock.NodeVotes {
	votes := make(lock.NodeVotes, len(ns))
	for i := range votes {
		v, bit := &votes[i], uint64(1)<<i
		v.Node = ns[i]
		switch {
		case s.Granted&bit != 0:
			v.Verdict = lock.VerdictGranted
		case s.Refilled&bit != 0:
			v.Verdict = lock.VerdictRefilled
		case s.Refused&bit != 0:
			v.Verdict = lock.VerdictRefused
		case s.Asked&bit != 0:
			v.Verdict = lock.VerdictUnheard
		default:
			v.Verdict = lock.VerdictNotAsked
		}
	}
	for _, f := range failed {
		votes[f.Index].Verdict, votes[f.Index].Err = lock.VerdictFailed, f.Err
	}
	return votes
}

// Failure is the error of one node.
type Failure struct {
	*lock.NodeError
	Index int // of the node
}

// Failure is the error of the node with this index.
func (ns Names) Failure(node int, op lock.Operation, err error) Failure {
	return Failure{NodeError: &lock.NodeError{Node: ns[node], Op: op, Err: err}, Index: node}
}

// ErrSilent is the error of a node that did not answer within the timeout.
func ErrSilent(timeout time.Duration) error {
	return fmt.Errorf("%w of %v", driver.ErrTimeout, timeout)
}

// Failures are those of a round.
type Failures []Failure

// NodeErrors are the failures as callers find them in an error.
func (fs Failures) NodeErrors() (all []*lock.NodeError) {
	for _, f := range fs {
		all = append(all, f.NodeError)
	}
	return all
}

// Errors is the failures as a list to unwrap.
func (fs Failures) Errors() (all []error) {
	for _, f := range fs {
		all = append(all, f.NodeError)
	}
	return all
}

// NoQuorum is the error of a round about the resource that no quorum granted.
func (ns Names) NoQuorum(resource string, op lock.Operation, s Sets, failed Failures) *lock.QuorumError {
	e := &lock.QuorumError{
		Resource: resource, Op: op, Nodes: len(ns), Quorum: Quorum(len(ns)),
		Errors: failed.NodeErrors(), Votes: ns.Votes(s, failed),
	}
	e.Granted = e.Count(lock.VerdictGranted)
	e.Refused = e.Count(lock.VerdictRefused) + e.Count(lock.VerdictRefilled)
	return e
}

// CutError is the error of a round that was cut short. Its text accounts for every node; Errs are the errors of
// those that failed.
type CutError struct {
	Text string
	Errs []error
}

// Error returns Text.
func (e *CutError) Error() string { return e.Text }

// Unwrap returns the nodes' errors.
func (e *CutError) Unwrap() []error { return e.Errs }
