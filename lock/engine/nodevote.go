package engine

import (
	"fmt"

	"github.com/lockscope/lockscope/lock"
)

// nodeSets are what is known of a round's nodes, as sets of their indices. A node that was asked and
// is in none of the others, nor has an error, was not waited for.
type nodeSets struct{ asked, granted, refused, refilled uint64 }

// votes says of each node of the attempt what it did, with the errors of those that failed.
func (a *attempt) votes(s nodeSets, failed failures) lock.NodeVotes {
	votes := make(lock.NodeVotes, len(a.grants))
	for i := range votes {
		v, bit := &votes[i], uint64(1)<<i
		v.Node = a.grants[i].Name()
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

func (a *attempt) failure(node int, op lock.Operation, err error) failure {
	return failure{NodeError: &lock.NodeError{Node: a.grants[node].Name(), Op: op, Err: err}, node: node}
}

// failures are those of a round.
type failures []failure

// nodeErrors are the failures as an error tells them to callers.
func (fs failures) nodeErrors() (all []*lock.NodeError) {
	for _, f := range fs {
		all = append(all, f.NodeError)
	}
	return all
}

// tree is what an error that is none of package lock's unwraps to.
func (fs failures) tree() (all []error) {
	for _, f := range fs {
		all = append(all, f.NodeError)
	}
	return all
}

// noQuorum is the error of a round that no quorum granted.
func (a *attempt) noQuorum(op lock.Operation, s nodeSets, failed failures) *lock.QuorumError {
	e := &lock.QuorumError{
		Resource: a.start.Resource, Op: op, Nodes: len(a.grants), Quorum: a.engine.quorum,
		Errors: failed.nodeErrors(), Votes: a.votes(s, failed),
	}
	e.Granted = e.Count(lock.VerdictGranted)
	e.Refused = e.Count(lock.VerdictRefused) + e.Count(lock.VerdictRefilled)
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
		text: fmt.Sprintf("the attempt was cut short with %d of %d nodes having granted%s", a.ballot.tally.Granted,
			len(a.grants), a.votes(a.ballot.sets(), a.ballot.failures).Text(lock.OpAcquire)),
		errs: a.ballot.failures.tree(),
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
