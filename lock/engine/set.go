package engine

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/workers"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/internal/carried"
)

// set is an engine's set of nodes, with what the calls on them share.
type set struct {
	cfg       *config
	id        string // names this process's waiter in queues
	quorum    int
	backend   lock.Backend
	nodes     []*node
	names     ballot.Names
	warm      warmUp
	workers   *workers.Workers
	timers    await.Timers
	contended *contention
	done      chan struct{} // closed by Close
	attempts  atomic.Uint64
}

// validity is what is left of ttl for a grant asked for at instant began.
func (e *set) validity(ttl, began time.Duration) time.Duration {
	return ttl - driftOf(ttl) - (e.cfg.clock() - began)
}

// onlyWait is ctx if there is one node: its answer is all that the caller waits for.
func (e *set) onlyWait(ctx context.Context) callqueue.Waiter {
	if e.quorum == 1 { // of one node
		return callqueue.Waiter{Context: ctx}
	}
	return callqueue.Waiter{}
}

// closing reports that Close was called.
func (e *set) closing() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// sleep pauses unless the engine is closed; it reports whether it is not.
func (e *set) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.done:
		return false
	}
}

// tombstoneTTL is how long a node refuses an acquire that arrives after its release.
func (e *set) tombstoneTTL() time.Duration { return max(e.cfg.maxTTL, time.Minute) }

// holderRecord is the public part of the lock's value: the [lock.Holder], and a name of its own
// for each attempt. By that name an Acquire recognizes a key that its earlier attempt left.
func (e *set) holderRecord(since time.Time, from origin) string {
	var name [32]byte
	unique := strconv.AppendUint(append(append(name[:0], e.id...), '.'), e.attempts.Add(1), 36)
	return string(records.AppendHolder(make([]byte, 0, 160), e.holder(since, from), string(unique)))
}

func (e *set) holder(since time.Time, from origin) lock.Holder {
	return lock.Holder{
		Instance: e.cfg.instance, Since: since, Traceparent: from.traceparent, CallSite: from.callSite,
		Page: e.cfg.page, Kind: from.kind, Slots: from.slots,
	}
}

// origin is the place, the trace and the construct in which Acquire was called.
type origin struct {
	traceparent, callSite string
	kind                  lock.Kind
	slots                 int
}

func traceparentOf(ctx context.Context) string {
	s, _ := ctx.Value(carried.Traceparent{}).(string)
	return s
}
