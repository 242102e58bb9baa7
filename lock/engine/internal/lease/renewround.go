package lease

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/hooks"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// remaining is the lease that a round of renewal prolongs. No node is asked once its time is up.
type remaining interface{ Remaining() time.Duration }

// renewal is a round of renewal, and what it came to.
type renewal struct {
	attempt    *attempt.Attempt
	lease      remaining
	ts         hooks.Traces
	ctx        context.Context // for its values
	began      time.Duration   // validity counts from here
	deadline   time.Time
	req        driver.ExtendRequest
	args       driver.ArgsCache
	extensions []extending
	ready      await.Signal // set when it may be decided

	mu       sync.Mutex
	closed   bool // later answers do not count
	tally    ballot.Tally
	sets     ballot.Sets
	failed   uint64 // set of nodes
	refilled int
	noSlot   int   // nodes that do not have the slot any more
	revoked  error // why the lease was revoked, if a node said that it was
	errs     ballot.Failures
	outcome  locktrace.RenewOutcome
	err      error
}

func (r *renewal) decided() bool {
	t := r.tally
	return t.Won() || t.Held() || t.Granted+t.Refused+t.Failed == t.Nodes
}

func (r *renewal) isDecided() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decided()
}

// count takes one node's answer.
func (r *renewal) count(from int, answer driver.ExtendReply, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	bit := uint64(1) << from
	switch {
	case err != nil:
		r.fail(from, err)
	case answer == driver.ExtendDone:
		r.tally.Granted++
		r.sets.Granted |= bit
	case answer == driver.ExtendRefilled:
		// The node did not have the key. It may have granted the lock to another process since, and lost that key, too. If the
		// node counted for this lease, both could have a quorum (counterexamples 30 and 32 of lock/proof/spec).
		r.refilled++
		r.tally.Refused++
		r.sets.Refilled |= bit
	default:
		if answer == driver.ExtendNoSlot {
			r.noSlot++
		}
		r.tally.Refused++
		r.sets.Refused |= bit
	}
	if r.decided() {
		r.ready.Set()
	}
}

// countRevoked takes the refusal of a node where the lease is revoked.
func (r *renewal) countRevoked(from int, record string) {
	r.mu.Lock()
	if !r.closed && r.revoked == nil {
		why := records.Revoked(r.attempt.Start.Resource, record)
		r.revoked = &why
	}
	r.mu.Unlock()
	r.count(from, driver.ExtendGone, nil)
}

func (r *renewal) fail(from int, err error) {
	r.tally.Failed++
	r.failed |= 1 << from
	r.errs = append(r.errs, r.attempt.Set.Names.Failure(from, lock.OpExtend, err))
}

// timeOut counts every node that has not answered as failed.
func (r *renewal) timeOut() {
	heard := r.sets.Granted | r.sets.Refilled | r.sets.Refused | r.failed
	for i := range r.extensions {
		if heard&(1<<i) == 0 {
			r.fail(i, ballot.ErrSilent(r.attempt.Timeout))
		}
	}
}

// noQuorum is the error of a round with an unknown outcome. If the round was cut short, nodes that had not
// answered by then do not count as failed.
func (r *renewal) noQuorum(cut error) error {
	if cut == nil {
		r.timeOut()
		return r.attempt.Set.Names.NoQuorum(r.attempt.Start.Resource, lock.OpExtend, r.sets, r.errs)
	}
	return fmt.Errorf("%w: %w", cut, r.attempt.Set.Names.NoQuorum(r.attempt.Start.Resource, lock.OpExtend, r.sets, r.errs))
}

// votes says what every node did, for the text of an error.
func (r *renewal) votes() string {
	return r.attempt.Set.Names.Votes(r.sets, r.errs).Text(lock.OpExtend)
}

// slotGone explains a renewal that failed because the semaphore has fewer slots now; "" for other renewals.
func (r *renewal) slotGone() string {
	if r.noSlot == 0 {
		return ""
	}
	return fmt.Sprintf(": %d nodes have fewer slots for its semaphore now: acquire with the present number", r.noSlot)
}
