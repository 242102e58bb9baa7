package scripts

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// Whether PUBLISH reports how many listen on the whole node: in a cluster it does not.
const (
	countsListeners = "1"
	countsShard     = "0"
)

// Place is what depends on where a script runs.
type Place struct {
	marker bool   // the server has one, in the slot of whatever is asked
	counts string // whether PUBLISH reports how many listen
}

// OnServer is a server of its own.
func OnServer() Place { return Place{marker: true, counts: countsListeners} }

// InCluster is any server of a Redis Cluster.
func InCluster() Place { return Place{counts: countsShard} }

// appendKeys appends the number of keys and the keys: those given and, unless it has
// another slot, the server's marker.
func (p Place) appendKeys(args []any, keys ...any) []any {
	if p.marker {
		return append(append(append(args, len(keys)+1), keys...), guard.MarkerKey)
	}
	return append(append(args, len(keys)), keys...)
}

// AcquireArgs are the arguments of acquire.lua but the last: the marker that the
// connection expects.
func (s *Set) AcquireArgs(req *driver.AcquireRequest, at Place) []any {
	if req.Mode != driver.Exclusive {
		return s.sharedAcquireArgs(req, at)
	}
	k := s.keys.of(req.Key)
	q := s.queueOf(k, req.Semaphore, at)
	size := 14
	if req.Waiter != (driver.Waiter{}) || req.Fair {
		size = 20
	}
	args := append(make([]any, 0, size), "evalsha", s.Acquire.Arg())
	if req.Waiter.Enqueue && req.Waiter.Record != "" {
		args = at.appendKeys(args, k.args.lock, k.args.fence, k.tombstone(req.Token), k.args.next, q.args.queue,
			q.entry(req.Waiter.ID))
	} else {
		args = at.appendKeys(args, k.args.lock, k.args.fence, k.tombstone(req.Token), k.args.next, q.args.queue)
	}
	args = append(args, req.Token, req.Holder, millis(req.TTL), req.Floor, max(req.Run, 1))
	if w := req.Waiter; w.Enqueue || w.Ticket > 0 || req.Fair {
		ticket, window := "", int64(0)
		if w.Enqueue {
			ticket = formatInt(w.Ticket)
		}
		if req.Fair {
			window = millis(req.Window)
		}
		args = append(args, w.ID, ticket, window, at.counts)
		if w.Enqueue && w.Record != "" {
			args = append(args, w.Record)
		}
	}
	if of := req.Semaphore; at.comparesSlots(of) {
		return withSlots(args, s.slots.acquire, of, of.Slots, millis(of.Keep), anySlotOf(of), millis(req.Window))
	}
	return args
}

// Voted reads the reply of acquire.lua. A grant counts only if nothing became known
// against the node meanwhile.
func (s *Set) Voted(g *guard.Guard, sent guard.Sight, key string, val any) (driver.AcquireReply, error) {
	reply, err := parseAcquire(val)
	reply.Restart, reply.ClockSkew = g.Restart(), g.ClockSkew()
	if errors.Is(err, driver.ErrFenceCounter) {
		err = fmt.Errorf("%w: %q is not a whole number below 2^53: find out who set it, then delete it; tokens "+
			"continue from the clock", err, s.keys.of(key).fence)
	}
	if err == nil && reply.Granted {
		// The connection that carried this vote may be the first since the node got a problem.
		if err = g.Verdict(sent); reply.Restart == nil {
			reply.Restart = g.Restart()
		}
	}
	return reply, err
}

// RaiseArgs are the arguments of raise.lua.
func (s *Set) RaiseArgs(req *driver.RaiseRequest) []any {
	if req.Mode == driver.Read {
		return s.readRaiseArgs(req)
	}
	k := s.keys.of(req.Key)
	return []any{
		"evalsha", s.Raise.Arg(), 2, k.args.lock, k.args.fence,
		req.Token + ":" + formatUint(req.Counter), formatUint(req.Fence),
	}
}

// ExtendArgs are the arguments of extend.lua but the last two: the fingerprint of
// the connection's configuration and the marker that it expects.
func (s *Set) ExtendArgs(req *driver.ExtendRequest, at Place) []any {
	if req.Mode == driver.Read {
		return s.readExtendArgs(req, at)
	}
	k := s.keys.of(req.Key)
	args := append(make([]any, 0, 16), "evalsha", s.Extend.Arg())
	args = at.appendKeys(args, k.args.lock, k.args.fence, k.tombstone(req.Token))
	args = append(args, req.Token, millis(req.TTL), flag(req.Refill), formatUint(req.Fence),
		formatUint(max(req.Fence, req.Last)), req.Holder, flag(req.Rename))
	if of := req.Semaphore; at.comparesSlots(of) {
		return withSlots(args, s.slots.extend, of, of.Slot, of.Slots, millis(of.Keep))
	}
	return args
}

// Extended reads the reply of extend.lua.
func Extended(g *guard.Guard, val any) (driver.ExtendReply, error) {
	reply, err := parseExtend(val)
	if other, ok := errors.AsType[unprovenError](err); ok {
		err = g.OtherConfiguration(other.marker)
	}
	return reply, err
}

// ReleaseArgs are the arguments of release.lua.
func (s *Set) ReleaseArgs(req *driver.ReleaseRequest, at Place) []any {
	if req.Mode != driver.Exclusive {
		return s.sharedReleaseArgs(req, at)
	}
	k := s.keys.of(req.Key)
	q := s.queueOf(k, req.Semaphore, at)
	says := req.Waiter.ID != "" && req.Waiter.Record != ""
	args := append(make([]any, 0, 11), "evalsha", s.Release.Arg())
	tombstone := k.args.none
	if req.Tombstone > 0 {
		tombstone = k.tombstone(req.Token)
	}
	if says {
		args = append(args, 5, k.args.lock, tombstone, k.args.next, q.args.queue, q.entry(req.Waiter.ID))
	} else {
		args = append(args, 4, k.args.lock, tombstone, k.args.next, q.args.queue)
	}
	args = append(args, req.Token, millis(req.Tombstone), millis(req.Handoff), at.counts)
	if req.Waiter.ID != "" {
		args = append(args, req.Waiter.ID, req.Waiter.Ticket)
	}
	if says {
		args = append(args, req.Waiter.Record)
	}
	return args
}

// LeaveArgs are the arguments of the LeaveScript.
func (s *Set) LeaveArgs(req *driver.LeaveRequest, at Place) []any {
	if req.Mode != driver.Exclusive {
		return s.sharedLeaveArgs(req, at)
	}
	if of := req.Semaphore; at.hasOneQueue(of) {
		q := s.keys.of(of.QueueKey())
		return []any{
			"evalsha", s.slots.leave.Arg(), 2, q.args.queue, q.entry(req.WaiterID),
			req.WaiterID, millis(req.Handoff), at.counts, of.Key, of.Slots,
		}
	}
	k := s.keys.of(req.Key)
	return []any{
		"evalsha", s.Leave.Arg(), 4, k.args.lock, k.args.next, k.args.queue, k.entry(req.WaiterID),
		req.WaiterID, millis(req.Handoff), at.counts,
	}
}

// flag is what scripts take for a bool.
func flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}

// millis rounds up, so that no TTL becomes zero and Redis never forgets early.
func millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
