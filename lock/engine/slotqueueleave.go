package engine

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// leave gives up the caller's positions in queues, and its bars; won is the attempt that succeeded, or nil.
func (a *contender) leave(ctx context.Context, won *attempt.Attempt) {
	if a.any != nil {
		a.leaveLine(ctx, won)
		return
	}
	a.gate.leave(ctx, &a.caller, won)
}

// lineTurn is the turn of a call that has left the line of its process. The next call has the same name in the queues
// of the nodes. So its turn comes when the nodes that answer have taken this one out: else that would take out the next.
type lineTurn struct {
	left atomic.Int32 // nodes
	line *queue.Queue
}

func (t *lineTurn) done() {
	if t.left.Add(-1) == 0 {
		t.line.PassTurn()
		t.line.Leave()
	}
}

// leaveLine takes the call out of the queue of its semaphore, and passes on the slots that are kept for it. The leave
// goes behind all calls of this one that the node has not answered, whichever slot they are about.
func (a *contender) leaveLine(ctx context.Context, won *attempt.Attempt) {
	s := a.any
	s.left = true
	turn := &lineTurn{line: a.Queue}
	turn.left.Store(1) // the end of this function
	defer turn.done()
	gone := a.gate.queued
	if won != nil {
		a.Queue.Forget()
		if s.tookPlace(won) {
			gone &^= 1 << won.Gate
		}
	}
	for i, n := range a.engine.Nodes {
		if gone&(1<<i) == 0 {
			continue
		}
		a.slotQueue(s.of.Slot) // a name may have come since the last attempt
		for slot, q := range s.slots {
			if slot != s.of.Slot && !q.On[i].IsBusy() {
				continue
			}
			l := a.leaving(ctx, n)
			if l.calls = &q.On[i]; !n.Suspect() {
				l.after = turn
				turn.left.Add(1)
			}
			l.queue()
		}
	}
}

// tookPlace reports that the grant of the gate has used up the only place in the queue that the call had.
func (s *anySlot) tookPlace(won *attempt.Attempt) bool {
	return won.Dequeued() && (s.places == 0 || s.places == 1 && s.named)
}

func (a *contender) leaving(ctx context.Context, n *nodes.Node) *leaving {
	of := a.any.of
	return &leaving{
		n: n, ctx: nodes.Values(ctx), ts: a.Traces, timeout: a.engine.Config.NodeTimeout(a.Opts.TTL),
		event: locktrace.NodeStart{Resource: a.Resource, Op: lock.OpLeave},
		req: driver.LeaveRequest{Key: of.SlotKey(of.Slot), WaiterID: a.engine.ID, Handoff: nodes.HandoffWindow,
			Semaphore: &of},
	}
}

// maxSemaphores bounds how many semaphores are remembered. A slot that is kept for this process is free again after
// the hand-off window in any case.
const maxSemaphores = 1024

// semaphores are those that calls of this process have waited for, for messages that come too late.
type semaphores struct {
	mu    sync.Mutex
	byKey map[string]driver.Semaphore
}

func (all *semaphores) remember(of *driver.Semaphore) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byKey == nil || len(all.byKey) >= maxSemaphores {
		all.byKey = make(map[string]driver.Semaphore)
	}
	all.byKey[of.Key] = *of
}

// of is the semaphore that the key of a slot belongs to, with that slot; nil if it is not known.
func (all *semaphores) of(key string) *driver.Semaphore {
	if !strings.Contains(key, "#") {
		return nil
	}
	name, slot, ok := records.ParseSlot(key)
	all.mu.Lock()
	defer all.mu.Unlock()
	of, known := all.byKey[name]
	if !ok || !known || slot >= of.Slots {
		return nil
	}
	of.Slot = slot
	return &of
}
