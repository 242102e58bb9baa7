// Package queue has the callers of this process that wait for one resource, first come first served.
package queue

import (
	"sync/atomic"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// Queue is what this process does about one resource: its callers, first come first
// served, and the calls under way on each node.
type Queue struct {
	nodes.Calls
	line

	one     [1]callqueue.Queue // the calls of a lock on one node, without an allocation of their own
	all     *Queues
	nameDue bool // a caller went on before the message with its name had come; guarded by the mutex of all queues
	Wake    chan WakeUp
	users   atomic.Int32 // acquires and leases concerned with it

	Blocker atomic.Pointer[lock.HeldError] // whom the caller that contends waits for
	Met     atomic.Pointer[error]          // why the last attempt of who contended failed; nil once one succeeded
	Graph   deadlock.Resource              // whether a lease of this process holds it
	First   atomic.Bool                    // the caller that contends waits, and is the next to be named or was named
	Leases  atomic.Int32                   // of this process that have not ended
	Asked   atomic.Bool                    // a call that does not queue asks for it
}

// WakeUp is a hint that an attempt is worth while.
type WakeUp struct {
	Named  bool // a release named this process's waiter
	Slot   int  // 1 + the slot for which it was named; 0 for a lock by itself
	Wasted bool // the gate has taken back a grant of a failed attempt: see wastedGrant
}

func newResourceQueue(all *Queues, key string) *Queue {
	q := &Queue{
		Calls: nodes.Calls{Key: key},
		line:  line{mu: &all.mu}, all: all, Wake: make(chan WakeUp, 1),
	}
	q.On = nodes.OneEach(q.one[:], all.nodes)
	for i := range q.On {
		q.On[i].Owner = q
	}
	return q
}

// LastMet is why the caller that contends, and so those behind it, do not have the lock; nil if that is not known.
func (q *Queue) LastMet() error {
	if met := q.Met.Load(); met != nil {
		return *met
	}
	return nil
}

// Front is what keeps the callers that wait for their turn waiting: a lease of this process, or what the caller that
// contends has met.
func (q *Queue) Front() (*lock.HeldError, error) {
	if k := q.Keeps(); k != nil {
		return k.Held(), nil
	}
	return q.Blocker.Load(), q.LastMet()
}

// Idle implements callqueue.Owner.
func (q *Queue) Idle() { q.all.forget(q) }

// Leave says that one of its users is done.
func (q *Queue) Leave() {
	q.users.Add(-1)
	q.all.forget(q)
}

// Released notes that this process has sent a release to the nodes. If the release will name
// the caller that contends here, that caller goes on at once: its calls follow the release in each node's order, so no
// node can refuse it for the lease that has just ended.
func (q *Queue) Released() {
	if q.First.Load() {
		q.signal(WakeUp{Named: true})
	}
}

// GrantWasted implements nodes.Contender.
func (q *Queue) GrantWasted() { q.signal(WakeUp{Wasted: true}) }

// signal never blocks; being named outweighs any other reason to wake up.
func (q *Queue) signal(w WakeUp) {
	select {
	case q.Wake <- w:
		return
	default:
	}
	if w.Named {
		select {
		case <-q.Wake:
		default:
		}
		select {
		case q.Wake <- w:
		default:
		}
	}
}
