package redlock

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Whether PUBLISH tells how many listen on the whole node: in a cluster it does not.
const (
	countsListeners = "1"
	countsShard     = "0"
)

type script = redisconn.Script

func acquireArgs(s *scripts, k *keys, req *driver.AcquireRequest, counts string) []any {
	args := []any{
		"evalsha", s.acquire.Hash, 5,
		k.args.lock, k.args.fence, k.tombstone(req.Token), k.args.next, k.args.queue,
		req.Token, req.Holder, millis(req.TTL), req.Floor, max(req.Run, 1),
	}
	if w := req.Waiter; w.Enqueue || w.Ticket > 0 || req.Fair {
		ticket, window := "", int64(0)
		if w.Enqueue {
			ticket = formatInt(w.Ticket)
		}
		if req.Fair {
			window = millis(req.Window)
		}
		args = append(args, w.ID, ticket, window, counts)
	}
	return args
}

// voted reads the reply of acquire.lua. A grant counts only if nothing became known
// against the node meanwhile.
func voted(g *guard.Guard, cache *keyCache, key string, val any) (driver.AcquireReply, error) {
	g.Answered()
	reply, err := parseAcquire(val)
	reply.Restart = g.Restart()
	if errors.Is(err, driver.ErrFenceCounter) {
		err = fmt.Errorf("%w: %q is not a whole number below 2^53: find out who set it; once it is deleted, tokens go on from the clock",
			err, cache.of(key).fence)
	}
	if err == nil && reply.Granted {
		// The connection that carried this vote may be the first since a restart.
		err = g.Verdict()
	}
	return reply, err
}

func raiseArgs(s *scripts, k *keys, req *driver.RaiseRequest) []any {
	return []any{
		"evalsha", s.raise.Hash, 2, k.args.lock, k.args.fence,
		req.Token + ":" + formatUint(req.Counter), formatUint(req.Fence),
	}
}

func extendArgs(s *scripts, k *keys, req *driver.ExtendRequest) []any {
	refill, rename := "0", "0"
	if req.Refill {
		refill = "1"
	}
	if req.Rename {
		rename = "1"
	}
	return []any{
		"evalsha", s.extend.Hash, 3, k.args.lock, k.args.fence, k.tombstone(req.Token),
		req.Token, millis(req.TTL), refill, formatUint(req.Fence), req.Holder, rename,
	}
}

func releaseArgs(s *scripts, k *keys, req *driver.ReleaseRequest, counts string) []any {
	args := []any{
		"evalsha", s.release.Hash, 4,
		k.args.lock, k.tombstone(req.Token), k.args.next, k.args.queue,
		req.Token, millis(req.Tombstone), millis(req.Handoff), counts,
	}
	if req.Waiter.ID != "" {
		args = append(args, req.Waiter.ID, req.Waiter.Ticket)
	}
	return args
}

func leaveArgs(s *scripts, k *keys, req *driver.LeaveRequest, counts string) []any {
	return []any{
		"evalsha", s.leave.Hash, 3, k.args.lock, k.args.next, k.args.queue,
		req.WaiterID, millis(req.Handoff), counts,
	}
}

// millis rounds up, so that no TTL becomes zero and Redis never forgets early.
func millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
