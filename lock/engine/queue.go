package engine

import (
	"sync/atomic"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// resourceQueue is what this process does about one resource: its callers, first come first
// served, and the calls under way on each node.
type resourceQueue struct {
	nodes.Calls
	line

	all   *queues
	wake  chan wakeUp
	users atomic.Int32 // acquires and leases concerned with it

	blocker atomic.Pointer[lock.HeldError] // whom the caller that contends waits for
	met     atomic.Pointer[error]          // why the last attempt of who contended failed; nil once one succeeded
	graph   deadlock.Resource              // whether a lease of this process holds it
	first   atomic.Bool                    // the caller that contends waits, and is the next to be named or was named
}

// wakeUp is a hint that an attempt is worth while.
type wakeUp struct {
	named  bool // a release named this process's waiter
	wasted bool // the gate has taken back a grant of a failed attempt: see wastedGrant
}

func newResourceQueue(all *queues, key string) *resourceQueue {
	q := &resourceQueue{
		Calls: nodes.Calls{Key: key, On: make([]callqueue.Queue, all.nodes)},
		line:  line{mu: &all.mu}, all: all, wake: make(chan wakeUp, 1),
	}
	for i := range q.On {
		q.On[i].Owner = q
	}
	q.Contender = q
	return q
}

// lastMet is why the caller that contends, and so those behind it, do not have the lock; nil if that is not known.
func (q *resourceQueue) lastMet() error {
	if met := q.met.Load(); met != nil {
		return *met
	}
	return nil
}

// front is what keeps the callers that wait for their turn waiting: a lease of this process, or what the caller that
// contends has met.
func (q *resourceQueue) front() (*lock.HeldError, error) {
	if k := q.keeps(); k != nil {
		return k.held(), nil
	}
	return q.blocker.Load(), q.lastMet()
}

// Idle implements callqueue.Owner.
func (q *resourceQueue) Idle() { q.all.forget(q) }

// leave says that one of its users is done.
func (q *resourceQueue) leave() {
	q.users.Add(-1)
	q.all.forget(q)
}

// released notes that this process has sent a release to the nodes. If the release will name
// the caller that contends here, that caller goes on at once: its calls follow the release.
func (q *resourceQueue) released() {
	if q.first.Load() {
		q.signal(wakeUp{named: true})
	}
}

// GrantWasted implements contending.
func (q *resourceQueue) GrantWasted() { q.signal(wakeUp{wasted: true}) }

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
