package lease

import (
	"context"
	"errors"
	"sync"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// releaseTimeouts is how many node timeouts a release waits for answers. Nodes that have not
// answered by then are asked again in the background.
const releaseTimeouts = 3

// releaseRound collects what the nodes say to a release.
type releaseRound struct {
	attempt  *attempt.Attempt
	lost     bool // the lease was over before the release
	undoings []attempt.Undoing
	one      [1]attempt.Undoing // of a lock on one node, without an allocation of its own
	args     driver.ArgsCache
	ready    await.Signal // set when it may be decided; nobody waits for the attempt any more

	mu                       sync.Mutex
	released, expired, taken int
	sets                     ballot.Sets
	final                    int // nodes that failed and will not be asked again
}

// ReleaseAnswered takes a node's answer; a node that is asked again gives two.
func (r *releaseRound) ReleaseAnswered(a nodes.ReleaseAnswer) {
	r.mu.Lock()
	r.count(a)
	decided := r.decided()
	r.mu.Unlock()
	if decided {
		r.ready.Set()
	}
}

// wait returns once the round is decided, its time is up, or ctx ends. Nodes that have not
// answered are still asked after that.
func (r *releaseRound) wait(ctx context.Context) (locktrace.ReleaseEnd, error) {
	a := r.attempt
	cut := a.Set.Timers.Await(ctx, nil, releaseTimeouts*a.Timeout, r.ready, r.isDecided)
	r.mu.Lock()
	defer r.mu.Unlock()
	outcome, err := r.outcome(cut)
	return locktrace.ReleaseEnd{
		Outcome: outcome, Granted: r.released, Refused: r.expired + r.taken, Failed: r.failed(), Err: err,
	}, err
}

func (r *releaseRound) isDecided() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decided()
}

func (r *releaseRound) count(a nodes.ReleaseAnswer) {
	if r.undoings[a.From].Err != nil && a.Err == nil && !r.lost {
		a.Reply.Found = driver.FoundOwn // if not now, by the try whose answer did not come
	}
	r.undoings[a.From].Err = a.Err
	switch {
	case a.Err != nil:
		if !a.Retried {
			r.final++
		}
	case a.Reply.Found == driver.FoundOwn:
		r.released++
		r.sets.Granted |= 1 << a.From
	case a.Reply.Found == driver.FoundOther:
		r.taken++
		r.sets.Refused |= 1 << a.From
	default:
		r.expired++
		r.sets.Refused |= 1 << a.From
	}
}

// failed counts the nodes that failed; a node that was not waited for did not.
func (r *releaseRound) failed() (n int) {
	for i := range r.undoings {
		if err := r.undoings[i].Err; err != nil && !errors.Is(err, driver.ErrUnheard) {
			n++
		}
	}
	return n
}

func (r *releaseRound) answered() int { return r.released + r.expired + r.taken }

// notHeld reports that so many nodes did not have the lease that no quorum can have
// had it. A node that had it and released it does not outvote them.
func (r *releaseRound) notHeld() bool {
	return ballot.Tally{Nodes: len(r.undoings), Refused: r.expired + r.taken}.Held()
}

// decided reports that no more answers are needed:
//
//   - a quorum has released the lease, or
//   - no quorum had it, and a node has said that another holder has the lock, or
//   - all nodes have answered, or failed for good.
//
// Without such a node the round waits for all: any of them may know the other holder.
func (r *releaseRound) decided() bool {
	return r.answered()+r.final == len(r.undoings) || r.released >= r.attempt.Set.Quorum ||
		r.notHeld() && r.taken > 0
}

// outcome is the result of the answers; cut is why the wait for more was cut short. A release
// fails as not held only if the nodes without the lease leave no quorum that can have had it.
func (r *releaseRound) outcome(cut error) (lock.Outcome, error) {
	if r.answered() >= r.attempt.Set.Quorum && !r.notHeld() {
		return lock.OutcomeReleased, nil
	}
	var failed ballot.Failures
	for i := range r.undoings {
		if u := &r.undoings[i]; u.Err != nil && !errors.Is(u.Err, driver.ErrUnheard) {
			failed = append(failed, r.attempt.Set.Names.Failure(i, lock.OpRelease, u.Err))
		}
	}
	e := &lock.ReleaseError{
		Resource: r.attempt.Start.Resource, Unknown: len(r.undoings) - r.answered(),
		Errors: failed.NodeErrors(), Votes: r.attempt.Set.Names.Votes(r.sets, failed),
	}
	switch {
	case r.notHeld() && r.taken > 0:
		e.Outcome = lock.OutcomeNotOwner
	case r.notHeld():
		e.Outcome = lock.OutcomeExpired
	default:
		e.Outcome, e.Cut = lock.OutcomeUnknown, cut
	}
	return e.Outcome, e
}
