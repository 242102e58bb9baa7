package engine

import (
	"sync"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
)

// line has the callers of this process that wait for their turn to contend for one resource.
type line struct {
	mu     *sync.Mutex // of all queues
	taken  bool        // a caller of this process contends, or a lease keeps its turn
	keeper keeper      // nil unless one does
	turns  []*turn     // the others, first come first served
}

// keeper is a lease that keeps its caller's turn.
type keeper interface {
	mayHandTo(o *lock.AcquireOptions) bool // whether it may hand the lock to a caller with these options
	held() *lock.HeldError                 // the lease, as a refusal by the nodes would describe it
}

// turn is the place of a caller that waits behind others of this process.
type turn struct {
	opts   *lock.AcquireOptions // of the caller
	leases []*deadlock.Lease    // that the caller holds
	come   chan struct{}        // closed when the caller contends, or has been handed the lock

	from   attempt.Beginning // with handed; both are set before come is closed
	handed bool
}

// takeTurn lets the caller contend, and returns nil. It returns a turn to wait for if another
// caller of this process contends, or a lease that may hand the lock to this caller keeps the
// turn.
func (q *line) takeTurn(opts *lock.AcquireOptions, leases []*deadlock.Lease) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !q.taken:
		q.taken = true
		return nil
	case q.keeper != nil && len(q.turns) == 0 && !q.keeper.mayHandTo(opts):
		q.keeper = nil
		return nil
	}
	t := &turn{opts: opts, leases: leases, come: make(chan struct{})}
	q.turns = append(q.turns, t)
	return t
}

// passTurn lets the next local caller contend.
func (q *line) passTurn() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass()
}

// pass is passTurn for callers that have the mutex, as pop and settle are.
func (q *line) pass() {
	q.keeper = nil
	if len(q.turns) == 0 {
		q.taken = false
		return
	}
	close(q.pop().come)
}

func (q *line) pop() *turn {
	first := q.turns[0]
	q.turns[0] = nil
	q.turns = q.turns[1:]
	return first
}

// settle passes a kept turn if the lock cannot be handed to the first caller that waits.
func (q *line) settle() {
	if q.keeper != nil && len(q.turns) > 0 && !q.keeper.mayHandTo(q.turns[0].opts) {
		q.pass()
	}
}

// keepTurn makes the lease keep the turn that its caller had, until passKept or handTurn.
func (q *line) keepTurn(l keeper) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.keeper = l
	q.settle()
}

// passKept passes the turn on if the lease still keeps it.
func (q *line) passKept(l keeper) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.keeper == l {
		q.pass()
	}
}

// handTurn gives the turn that the lease keeps, and the lock with it, to the first caller that
// waits. The lease must close come to tell it. handTurn returns nil if the turn was passed on
// already, or if no caller waits: then the lease keeps the turn.
func (q *line) handTurn(l keeper, from attempt.Beginning) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.keeper != l || len(q.turns) == 0 {
		return nil
	}
	q.keeper = nil
	next := q.pop()
	next.from, next.handed = from, true
	return next
}

// giveUpTurn leaves the line. It passes on a turn that has come meanwhile, unless the lock came
// with it: the caller must give that back.
func (q *line) giveUpTurn(t *turn) (handed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.turns {
		if other == t {
			q.turns = append(q.turns[:i], q.turns[i+1:]...)
			q.settle()
			return false
		}
	}
	if !t.handed {
		q.pass()
	}
	return t.handed
}

// ahead is how many callers of this process contend or queue before t.
func (q *line) ahead(t *turn) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.turns {
		if other == t {
			return i + 1
		}
	}
	return 0
}

// keeps returns the lease that keeps the turn; nil if none does.
func (q *line) keeps() keeper {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.keeper
}

// waiting is how many callers of this process wait for their turn.
func (q *line) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.turns)
}

// leasesOfTurns are the leases of the callers that wait for their turn, one entry a caller.
func (q *line) leasesOfTurns() (all [][]*deadlock.Lease) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.turns {
		all = append(all, t.leases)
	}
	return all
}

// contends reports that a caller of this process contends, and can be named. The caller of
// contends has the mutex.
func (q *line) contends() bool { return q.taken && q.keeper == nil }
