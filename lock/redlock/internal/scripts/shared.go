package scripts

import (
	_ "embed" // the scripts

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

//go:embed rwshared.lua
var rwSharedLua string

//go:embed rwacquire.lua
var rwAcquireLua string

//go:embed rwraise.lua
var rwRaiseLua string

//go:embed rwextend.lua
var rwExtendLua string

//go:embed rwrelease.lua
var rwReleaseLua string

//go:embed rwleave.lua
var rwLeaveLua string

// sharing has the scripts for readers and writers.
type sharing struct{ acquire, raise, extend, release, leave *redisconn.Script }

func newSharing() sharing {
	script := func(lua string) *redisconn.Script {
		return redisconn.NewScript(markerLua, handoffLua, rwSharedLua, lua)
	}
	return sharing{
		acquire: script(rwAcquireLua), raise: script(rwRaiseLua), extend: script(rwExtendLua),
		release: script(rwReleaseLua), leave: script(rwLeaveLua),
	}
}

// AcquireIn is the script that AcquireArgs are for, in this mode.
func (s *Set) AcquireIn(m driver.Mode) *redisconn.Script {
	return choose(m, s.Acquire, s.sharing.acquire, s.sharing.acquire)
}

// RaiseIn is the script that RaiseArgs are for. A writer's key is that of any lock.
func (s *Set) RaiseIn(m driver.Mode) *redisconn.Script {
	return choose(m, s.Raise, s.sharing.raise, s.Raise)
}

// ExtendIn is the script that ExtendArgs are for.
func (s *Set) ExtendIn(m driver.Mode) *redisconn.Script {
	return choose(m, s.Extend, s.sharing.extend, s.Extend)
}

// ReleaseIn is the script that ReleaseArgs are for.
func (s *Set) ReleaseIn(m driver.Mode) *redisconn.Script {
	return choose(m, s.Release, s.sharing.release, s.sharing.release)
}

// LeaveIn is the script that LeaveArgs are for, unless the lock is a slot: see LeaveScript.
func (s *Set) LeaveIn(m driver.Mode) *redisconn.Script {
	return choose(m, s.Leave, s.sharing.leave, s.sharing.leave)
}

func choose(m driver.Mode, exclusive, read, write *redisconn.Script) *redisconn.Script {
	switch m {
	case driver.Read:
		return read
	case driver.Write:
		return write
	}
	return exclusive
}

// modeFlag is what the scripts take for a mode.
func modeFlag(m driver.Mode) string {
	if m == driver.Read {
		return "r"
	}
	return "w"
}

// sharedAcquireArgs are the arguments of rwacquire.lua but the last: the marker that the connection expects.
func (s *Set) sharedAcquireArgs(req *driver.AcquireRequest, at Place) []any {
	k, w := s.keys.of(req.Key), req.Waiter
	args := append(make([]any, 0, 28), "evalsha", s.sharing.acquire.Arg())
	args = at.appendKeys(args, k.args.lock, k.args.fence, k.tombstone(req.Token), k.args.next, k.args.queue,
		BarsKey(k.lock), k.entry(w.ID), indexKey(k.lock))
	window := int64(0)
	if req.Fair {
		window = millis(req.Window)
	}
	return append(args, req.Token, req.Holder, millis(req.TTL), req.Floor, modeFlag(req.Mode), w.ID, w.Ticket,
		flag(w.Enqueue), window, at.counts, millis(req.Bar), w.Record)
}

// readRaiseArgs are the arguments of rwraise.lua.
func (s *Set) readRaiseArgs(req *driver.RaiseRequest) []any {
	k := s.keys.of(req.Key)
	return []any{
		"evalsha", s.sharing.raise.Arg(), 2, k.args.lock, k.args.fence,
		req.Token, formatUint(req.Counter), formatUint(req.Fence),
	}
}

// readExtendArgs are the arguments of rwextend.lua but the last two, as for extend.lua.
func (s *Set) readExtendArgs(req *driver.ExtendRequest, at Place) []any {
	k := s.keys.of(req.Key)
	args := append(make([]any, 0, 18), "evalsha", s.sharing.extend.Arg())
	args = at.appendKeys(args, k.args.lock, k.args.fence, k.tombstone(req.Token), k.args.next, BarsKey(k.lock),
		indexKey(k.lock))
	return append(args, req.Token, millis(req.TTL), flag(req.Refill), formatUint(req.Fence),
		formatUint(max(req.Fence, req.Last)), req.Holder)
}

// sharedReleaseArgs are the arguments of rwrelease.lua.
func (s *Set) sharedReleaseArgs(req *driver.ReleaseRequest, at Place) []any {
	k, w := s.keys.of(req.Key), req.Waiter
	return []any{
		"evalsha", s.sharing.release.Arg(), 7, k.args.lock, k.tombstone(req.Token), k.args.next, k.args.queue,
		BarsKey(k.lock), k.entry(w.ID), indexKey(k.lock),
		req.Token, modeFlag(req.Mode), millis(req.Tombstone), millis(req.Handoff), at.counts, w.ID, w.Ticket, w.Record,
	}
}

// sharedLeaveArgs are the arguments of rwleave.lua.
func (s *Set) sharedLeaveArgs(req *driver.LeaveRequest, at Place) []any {
	k := s.keys.of(req.Key)
	return []any{
		"evalsha", s.sharing.leave.Arg(), 6, k.args.lock, k.args.next, k.args.queue, BarsKey(k.lock), k.entry(req.WaiterID),
		indexKey(k.lock), req.WaiterID, millis(req.Handoff), at.counts,
	}
}

// BarsKey returns the key of the writers that wait for a lock and keep later readers out.
func BarsKey(lockKey string) string { return "lockscope:bars:{" + lockKey + "}" }

// indexKey returns the key of the index of a lock's readers.
func indexKey(lockKey string) string { return "lockscope:readers:{" + lockKey + "}" }
