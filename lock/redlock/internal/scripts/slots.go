package scripts

import (
	_ "embed" // the scripts
	"errors"
	"fmt"
	"strconv"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

//go:embed slots.lua
var slotsLua string

//go:embed slot.lua
var slotLua string

//go:embed offer.lua
var offerLua string

//go:embed leaveslots.lua
var leaveSlotsLua string

//go:embed resize.lua
var resizeLua string

// slotScripts are those of a semaphore and its slots.
type slotScripts struct{ acquire, extend, leave, resize *redisconn.Script }

func newSlotScripts() slotScripts {
	return slotScripts{
		acquire: redisconn.NewScript(markerLua, slotsLua, acquireLua, handoffLua, offerLua, refuseLua),
		extend:  redisconn.NewScript(markerLua, slotLua, extendLua),
		leave:   redisconn.NewScript(handoffLua, leaveSlotsLua),
		resize:  redisconn.NewScript(markerLua, resizeLua),
	}
}

// SlotsKey returns the key of the number of slots of a semaphore, whose name follows the prefix of locks in its key.
func SlotsKey(semaphoreKey string) string { return "lockscope:slots:{" + semaphoreKey + "}" }

// comparesSlots reports that the script compares the number of slots. In a Redis Cluster that is on another server
// than most of the slots.
func (p Place) comparesSlots(of *driver.Semaphore) bool { return of != nil && p.marker }

// hasOneQueue reports that the waiters for the slots have one queue.
func (p Place) hasOneQueue(of *driver.Semaphore) bool { return p.comparesSlots(of) && of.OneQueue }

// queueOf has the keys of the queue that a request about a lock concerns: those of the lock, or of its semaphore.
func (s *Set) queueOf(lock *keys, of *driver.Semaphore, at Place) *keys {
	if at.hasOneQueue(of) {
		return s.keys.of(of.QueueKey())
	}
	return lock
}

// anySlotOf is what slots.lua takes for a caller that takes any slot.
func anySlotOf(of *driver.Semaphore) string {
	if of.OneQueue && of.Any {
		return of.Key
	}
	return ""
}

// LeaveScript is the script of LeaveArgs.
func (s *Set) LeaveScript(req *driver.LeaveRequest, at Place) *redisconn.Script {
	if req.Mode == driver.Exclusive && at.hasOneQueue(req.Semaphore) {
		return s.slots.leave
	}
	return s.LeaveIn(req.Mode)
}

// AcquireScript is the script of AcquireArgs.
func (s *Set) AcquireScript(req *driver.AcquireRequest, at Place) *redisconn.Script {
	if at.comparesSlots(req.Semaphore) {
		return s.slots.acquire
	}
	return s.AcquireIn(req.Mode)
}

// ExtendScript is the script of ExtendArgs.
func (s *Set) ExtendScript(req *driver.ExtendRequest, at Place) *redisconn.Script {
	if at.comparesSlots(req.Semaphore) {
		return s.slots.extend
	}
	return s.ExtendIn(req.Mode)
}

// withSlots adds to the arguments of a script what the one before it takes: the number of slots, and values.
func withSlots(args []any, script *redisconn.Script, of *driver.Semaphore, values ...any) []any {
	keys := args[2].(int)
	all := append(make([]any, 0, 32), args[0], script.Arg(), keys+1, SlotsKey(of.Key))
	all = append(append(all, args[3:3+keys]...), values...)
	return append(all, args[3+keys:]...)
}

// ResizeArgs are the arguments of resize.lua but the last two, as those of ExtendArgs.
func (s *Set) ResizeArgs(req *driver.ResizeRequest, at Place) []any {
	args := at.appendKeys([]any{"evalsha", s.slots.resize.Arg()}, SlotsKey(req.Key), SlotsKey(req.Key)+":none")
	return append(args, req.From, req.To, millis(req.Keep))
}

// ResizeScript is the script of ResizeArgs.
func (s *Set) ResizeScript() *redisconn.Script { return s.slots.resize }

// Resized reads the reply of resize.lua.
func Resized(g *guard.Guard, val any) (driver.ResizeReply, error) {
	reply, err := parseResize(val)
	if other, ok := errors.AsType[unprovenError](err); ok {
		err = g.OtherConfiguration(other.marker)
	}
	return reply, err
}

// parseResize accepts anything a server or a proxy may send and never panics.
func parseResize(val any) (driver.ResizeReply, error) {
	if fields, ok := val.([]any); ok && len(fields) == 2 && fields[0] == any(int64(5)) {
		marker, _ := fields[1].(string)
		return 0, unprovenError{marker}
	}
	known, err := parseCode(val, 0, 1<<31-1)
	return driver.ResizeReply(known), err
}

// otherSlots is the number of slots in a refusal {6, number}; 0 if the reply is another one.
func otherSlots(reply any) (int, error) {
	fields, _ := reply.([]any)
	if len(fields) != 2 || fields[0] != any(int64(6)) {
		return 0, nil
	}
	digits, _ := fields[1].(string)
	known, err := strconv.Atoi(digits)
	if err != nil || known <= 0 {
		return 0, fmt.Errorf("%w: the number of slots of a semaphore is not a positive number", driver.ErrBadReply)
	}
	return known, nil
}
