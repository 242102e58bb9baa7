package queue

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
	turns  []*Turn     // the others, first come first served
}

// keeper is a lease that keeps its caller's turn.
type keeper interface {
	MayHandTo(o *lock.AcquireOptions) bool // whether it may hand the lock to a caller with these options
	Held() *lock.HeldError                 // the lease, as a refusal by the nodes would describe it
}

// Turn is the place of a caller that waits behind others of this process.
type Turn struct {
	opts   *lock.AcquireOptions // of the caller
	leases []*deadlock.Lease    // that the caller holds
	Come   chan struct{}        // closed when the caller contends, or has been handed the lock

	From   attempt.Beginning // with Handed; both are set before Come is closed
	Handed bool
}

// TakeTurn lets the caller contend, and returns nil. It returns a turn to wait for if another
// caller of this process contends, or a lease that may hand the lock to this caller keeps the
// turn.
func (q *line) TakeTurn(opts *lock.AcquireOptions, leases []*deadlock.Lease) *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !q.taken:
		q.taken = true
		return nil
	case q.keeper != nil && len(q.turns) == 0 && !q.keeper.MayHandTo(opts):
		q.keeper = nil
		return nil
	}
	t := &Turn{opts: opts, leases: leases, Come: make(chan struct{})}
	q.turns = append(q.turns, t)
	return t
}

// PassTurn lets the next local caller contend.
func (q *line) PassTurn() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass()
}

// pass is PassTurn for callers that have the mutex, as pop and settle are.
func (q *line) pass() {
	q.keeper = nil
	if len(q.turns) == 0 {
		q.taken = false
		return
	}
	close(q.pop().Come)
}

func (q *line) pop() *Turn {
	first := q.turns[0]
	q.turns[0] = nil
	q.turns = q.turns[1:]
	return first
}

// settle passes a kept turn if the lock cannot be handed to the first caller that waits.
func (q *line) settle() {
	if q.keeper != nil && len(q.turns) > 0 && !q.keeper.MayHandTo(q.turns[0].opts) {
		q.pass()
	}
}

// KeepTurn makes the lease keep the turn that its caller had, until PassKept or HandTurn.
func (q *line) KeepTurn(l keeper) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.keeper = l
	q.settle()
}

// PassKept passes the turn on if the lease still keeps it.
func (q *line) PassKept(l keeper) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.keeper == l {
		q.pass()
	}
}

// HandTurn gives the turn that the lease keeps, and the lock with it, to the first caller that
// waits. The lease must close Come to tell it. HandTurn returns nil if the turn was passed on
// already, or if no caller waits: then the lease keeps the turn.
func (q *line) HandTurn(l keeper, from attempt.Beginning) *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.keeper != l || len(q.turns) == 0 {
		return nil
	}
	q.keeper = nil
	next := q.pop()
	next.From, next.Handed = from, true
	return next
}

// GiveUpTurn leaves the line. It passes on a turn that has come meanwhile, unless the lock came
// with it: the caller must give that back.
func (q *line) GiveUpTurn(t *Turn) (handed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.turns {
		if other == t {
			q.turns = append(q.turns[:i], q.turns[i+1:]...)
			q.settle()
			return false
		}
	}
	if !t.Handed {
		q.pass()
	}
	return t.Handed
}

// Ahead is how many callers of this process contend or queue before t.
func (q *line) Ahead(t *Turn) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.turns {
		if other == t {
			return i + 1
		}
	}
	return 0
}

// Keeps returns the lease that keeps the turn; nil if none does.
func (q *line) Keeps() keeper {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.keeper
}

// Waiting is how many callers of this process wait for their turn.
func (q *line) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.turns)
}

// LeasesOfTurns are the leases of the callers that wait for their turn, one entry a caller.
func (q *line) LeasesOfTurns() (all [][]*deadlock.Lease) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.turns {
		all = append(all, t.leases)
	}
	return all
}

// Contends reports that a caller of this process contends, or has its turn.
func (q *line) Contends() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken
}

// contends reports that a caller of this process contends, and can be named. The caller of
// contends has the mutex.
func (q *line) contends() bool { return q.taken && q.keeper == nil }
