package contest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/lease"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
)

// Core is what the calls and the leases of an engine share.
type Core struct {
	*nodes.Set

	Queues *queue.Queues
	Leases *lease.Open

	slotQueue bool // the nodes have one queue for all slots of a semaphore
}

// New makes the core of an engine on these nodes.
func New(s *nodes.Set) Core {
	queues := s.AllCan(func(c driver.Capabilities) bool { return c.SlotQueue }, errors.ErrUnsupported) == nil
	return Core{Set: s, Queues: queue.NewQueues(len(s.Nodes)), Leases: lease.NewOpen(), slotQueue: queues}
}

var (
	errNoModes = fmt.Errorf("%w: this driver has no read/write locks: use a lock, or package redlock",
		errors.ErrUnsupported)
	errKeepsNothing = fmt.Errorf("%w: this driver cannot keep a resource after its release: leave out MinHold, or use "+
		"package redlock", errors.ErrUnsupported)
)

// can refuses what not all nodes can do.
func (e *Core) can(o *lock.AcquireOptions) error {
	if o.Mode != lock.ModeExclusive {
		if err := e.AllCan(func(c driver.Capabilities) bool { return c.Readers }, errNoModes); err != nil {
			return err
		}
	}
	if o.MinHold == 0 {
		return nil
	}
	return e.AllCan(func(c driver.Capabilities) bool { return c.Keep }, errKeepsNothing)
}

// wakeUp makes the function that a node calls when a release names this process. If no
// caller of the process waits any more, the node names the next in its queue instead.
func (e *Core) wakeUp(n *nodes.Node) func(key string) {
	return func(key string) {
		if e.Queues.WakeUp(key) {
			return
		}
		of := e.Queues.SemaphoreOf(key)
		if of != nil && e.Queues.WakeUpForSlot(of.QueueKey(), key, of.Slot) {
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
