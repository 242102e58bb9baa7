package pglock

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/driver"
)

// calls are the statements.
type calls struct {
	acquire, raise, extend, release, leave, prune, peek     string
	acquireSlot, extendSlot, resize                         string
	acquireShared, extendReader, releaseShared, leaveShared string
	revoke, revokeReaders, markOf                           string
}

func callsOf(schema string) calls {
	schema = pgx.Identifier{schema}.Sanitize() + "."
	const grant = "SELECT code, fence, run, ttl, held_by, ticket, ahead, forgot, "
	return calls{
		acquire: grant + "0 FROM " + schema + "acquire($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
		raise:   "SELECT " + schema + "raise($1, $2, $3, $4)",
		extend:  "SELECT " + schema + "extend($1, $2, $3, $4, $5, $6, $7)",
		release: "SELECT what, named FROM " + schema + "release($1, $2, $3, $4, $5, $6, $7)",
		leave:   "SELECT " + schema + "leave($1, $2, $3)",
		prune:   "SELECT " + schema + "prune($1, $2)",
		peek:    "SELECT code, fence, ttl, held_by, forgot FROM " + schema + "peek($1, $2, $3)",

		acquireSlot: grant + "known FROM " + schema +
			"acquire_slot($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
		extendSlot: "SELECT " + schema + "extend_slot($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
		resize:     "SELECT " + schema + "resize($1, $2, $3, $4)",

		acquireShared: grant + "0 FROM " + schema +
			"acquire_shared($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
		extendReader:  "SELECT " + schema + "extend_reader($1, $2, $3, $4, $5, $6)",
		releaseShared: "SELECT what, named FROM " + schema + "release_shared($1, $2, $3, $4, $5, $6, $7, $8)",
		leaveShared:   "SELECT " + schema + "leave_shared($1, $2, $3)",

		revoke: "SELECT code, named, fence, ttl, held_by, record FROM " + schema + "revoke_lease($1, $2, $3, $4, $5, $6)",
		revokeReaders: "SELECT code, named, fences, ttls, holders, records FROM " + schema +
			"revoke_readers($1, $2, $3, $4, $5, $6)",
		markOf: "SELECT " + schema + "mark_of($1, $2)",
	}
}

// acquire returns the call of an acquire. All of them reply with the same columns.
func (n *node) acquire(req *driver.AcquireRequest) (sql string, args []any) {
	window := time.Duration(0)
	if req.Fair {
		window = req.Window
	}
	floor := int64(min(req.Floor, maxFence))
	if req.Mode != driver.Exclusive {
		return n.calls.acquireShared, []any{
			req.Key, req.Token, req.Mode == driver.Write, req.Holder, millis(req.TTL), floor, req.Waiter.ID,
			req.Waiter.Ticket, req.Waiter.Enqueue, req.Waiter.Record, millis(window), millis(req.Bar), millis(n.memory),
			n.enforced,
		}
	}
	var place *int64
	if req.Waiter.Enqueue {
		place = &req.Waiter.Ticket
	}
	args = []any{
		req.Key, req.Token, req.Holder, millis(req.TTL), floor, int64(max(req.Run, 1)), req.Waiter.ID, place,
		req.Waiter.Record, millis(window), millis(n.memory), n.enforced,
	}
	if s := req.Semaphore; s != nil {
		return n.calls.acquireSlot, append([]any{s.Key, s.Slots, millis(s.Keep)}, args...)
	}
	return n.calls.acquire, args
}

func (n *node) extend(req *driver.ExtendRequest) (sql string, args []any) {
	args = []any{req.Key, req.Token, millis(req.TTL), req.Refill, int64(max(req.Fence, req.Last)), req.Holder}
	if req.Mode == driver.Read {
		return n.calls.extendReader, args
	}
	args = append(args, req.Rename)
	if s := req.Semaphore; s != nil {
		args = append([]any{s.Key, s.Slot, s.Slots, millis(s.Keep)}, args...)
		return n.calls.extendSlot, append(args, millis(n.memory), n.enforced)
	}
	return n.calls.extend, args
}

func (n *node) release(req *driver.ReleaseRequest) (sql string, args []any) {
	sql, args = n.calls.release, []any{req.Key, req.Token}
	if req.Mode != driver.Exclusive {
		sql, args = n.calls.releaseShared, append(args, req.Mode == driver.Write)
	}
	return sql, append(args, millis(req.Tombstone), millis(req.Handoff), req.Waiter.ID, req.Waiter.Ticket,
		req.Waiter.Record)
}
