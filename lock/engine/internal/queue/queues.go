package queue

import (
	"sync"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock/engine/internal/deadlock"
)

// Queues has the queue of each resource that a caller of this process waits for or holds.
type Queues struct {
	nodes   int
	Probing atomic.Int32 // waiters that probe often: see foreignHolder

	mu         sync.Mutex
	byKey      map[string]*Queue
	semaphores map[string]*semaphore // by key
}

// NewQueues makes an empty set of queues on that many nodes.
func NewQueues(nodes int) *Queues {
	return &Queues{nodes: nodes, byKey: make(map[string]*Queue), semaphores: make(map[string]*semaphore)}
}

// Enter makes the resource's queue, or joins it. Leave must follow.
func (all *Queues) Enter(key string) *Queue {
	all.mu.Lock()
	defer all.mu.Unlock()
	q, ok := all.byKey[key]
	if !ok {
		q = newResourceQueue(all, key)
		all.byKey[key] = q
	}
	q.users.Add(1)
	return q
}

// Graphs are the places of lock keys in the graph of waits; nil for those that no caller waits for or holds.
func (all *Queues) Graphs(keys []string) []*deadlock.Resource {
	all.mu.Lock()
	defer all.mu.Unlock()
	found := make([]*deadlock.Resource, len(keys))
	for i, key := range keys {
		if q := all.byKey[key]; q != nil {
			found[i] = &q.Graph
		}
	}
	return found
}

// forget drops a queue once nobody uses it and no call is under way: until then the next
// caller's calls must go behind those.
func (all *Queues) forget(q *Queue) {
	if q.users.Load() != 0 {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if q.users.Load() != 0 || all.byKey[q.Key] != q {
		return
	}
	for i := range q.On {
		if q.On[i].IsBusy() {
			return
		}
	}
	delete(all.byKey, q.Key)
}

// WakeUp signals the caller that contends for the lock key, or all callers for "". It reports
// whether one does.
func (all *Queues) WakeUp(key string) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if key != "" {
		q, ok := all.byKey[key]
		if !ok || !q.contends() {
			return false
		}
		q.signal(WakeUp{Named: true})
		return true
	}
	for _, q := range all.byKey {
		q.signal(WakeUp{})
	}
	return true
}
