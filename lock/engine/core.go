package engine

import (
	"context"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/lease"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
)

// core is what the acquisitions and the leases of an engine share.
type core struct {
	*nodes.Set

	queues *queue.Queues
	leases *lease.Open

	slotQueue bool // the nodes have one queue for all slots of a semaphore
}

// wakeUp makes the function that a node calls when a release names this process. If no
// caller of the process waits any more, the node names the next in its queue instead.
func (e *core) wakeUp(n *nodes.Node) func(key string) {
	return func(key string) {
		if e.queues.WakeUp(key) {
			return
		}
		of := e.queues.SemaphoreOf(key)
		if of != nil && e.queues.WakeUpForSlot(of.QueueKey(), key, of.Slot) {
			return
		}
		if resource, ours := strings.CutPrefix(key, e.Config.Prefix); !ours || lock.ValidateResource(resource) != nil {
			return
		}
		req := &driver.LeaveRequest{Key: key, WaiterID: e.ID, Handoff: nodes.HandoffWindow, Semaphore: of}
		call := driver.Call{Context: context.Background(), Deadline: time.Now().Add(e.Config.NodeTimeout(lock.DefaultTTL))}
		e.Releases.Begin()
		n.Leave(call, req, &leftUnasked{n, time.Now()})
	}
}

// leftUnasked takes the answer to a leave that no caller of this process has asked for.
type leftUnasked struct {
	n     *nodes.Node
	began time.Time
}

// Answer implements driver.Answer.
func (l *leftUnasked) Answer(_ bool, err error) {
	l.n.Note(time.Since(l.began), err)
	l.n.Set.Releases.End()
}
