package lock

import "sync/atomic"

// resourceQueue is one resource's in this process: its callers, first come first
// served, and the calls under way on each node.
type resourceQueue struct {
	all   *queues
	key   string
	calls []callQueue // one a node
	wake  chan wakeUp

	hedged atomic.Bool  // the gate was slower than usual, and has not answered since
	users  atomic.Int32 // acquires and leases concerned with it

	blocker atomic.Pointer[HeldError] // whom the caller that contends waits for

	// Guarded by the mutex of all.
	taken bool            // a caller of this process contends
	turns []chan struct{} // the others, first come first served
}

// wakeUp is a hint that an attempt is worth while.
type wakeUp struct {
	named bool // a release named this process's waiter
}

func newResourceQueue(all *queues, key string) *resourceQueue {
	q := &resourceQueue{all: all, key: key, calls: make([]callQueue, all.nodes), wake: make(chan wakeUp, 1)}
	for i := range q.calls {
		q.calls[i].of = q
	}
	return q
}

// leave says that one of its users is done.
func (q *resourceQueue) leave() {
	q.users.Add(-1)
	q.all.forget(q)
}

// takeTurn lets the caller contend. If another caller of this process does
// already, it returns a channel that is closed when the turn has come.
func (q *resourceQueue) takeTurn() (turn chan struct{}) {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	if !q.taken {
		q.taken = true
		return nil
	}
	turn = make(chan struct{})
	q.turns = append(q.turns, turn)
	return turn
}

// passTurn lets the next local caller contend.
func (q *resourceQueue) passTurn() {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	if len(q.turns) == 0 {
		q.taken = false
		return
	}
	next := q.turns[0]
	q.turns = q.turns[1:]
	close(next)
}

// giveUpTurn leaves the local queue; a turn that came meanwhile is passed on.
func (q *resourceQueue) giveUpTurn(turn chan struct{}) {
	q.all.mu.Lock()
	for i, t := range q.turns {
		if t == turn {
			q.turns = append(q.turns[:i], q.turns[i+1:]...)
			q.all.mu.Unlock()
			return
		}
	}
	q.all.mu.Unlock()
	q.passTurn()
}

// ahead is how many callers of this process contend or queue before turn.
func (q *resourceQueue) ahead(turn chan struct{}) int {
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	for i, t := range q.turns {
		if t == turn {
			return i + 1
		}
	}
	return 0
}

// signal never blocks; being named outweighs any other reason to wake up.
func (q *resourceQueue) signal(w wakeUp) {
	select {
	case q.wake <- w:
		return
	default:
	}
	if w.named {
		select {
		case <-q.wake:
		default:
		}
		select {
		case q.wake <- w:
		default:
		}
	}
}
