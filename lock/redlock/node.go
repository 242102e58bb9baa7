package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// node is a driver.Node on a go-redis client.
type node struct {
	name     string
	client   client
	scripts  *scripts
	keys     *keyCache
	guard    *guard.Guard
	counts   string // '1' if PUBLISH tells how many listen on the whole node
	listener listener
}

// shared is what the nodes of an engine have in common.
type shared struct {
	scripts *scripts
	keys    *keyCache
}

func newNode(d *derived, name string, g *guard.Guard, shared *shared, timeout time.Duration) *node {
	n := &node{name: name, client: d, scripts: shared.scripts, keys: shared.keys, guard: g, counts: "1"}
	if d.cluster {
		n.counts = "0"
	}
	n.listener.init(d, timeout)
	return n
}

func (n *node) Name() string { return n.name }

func (n *node) System() string { return "redis" }

// server is what the guard asks, on any connection of the node's: what the latest of
// them saw stands for each of them.
func (n *node) server() server {
	return server{process: n.client, scripts: n.scripts, sight: n.guard.Latest}
}

func (n *node) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	if err := n.guard.Admit(ctx, n.server()); err != nil {
		return driver.AcquireReply{Restart: n.guard.Restart()}, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	reply, err := n.acquire(ctx, req)
	if errors.As(err, new(unprovenError)) {
		if err = n.guard.Unproven(ctx, n.server()); err == nil {
			reply, err = n.acquire(ctx, req) // which had no effect before
		} else {
			err = fmt.Errorf("%w: %w", driver.ErrNotSent, err)
		}
	}
	reply.Restart = n.guard.Restart()
	if err != nil || !reply.Granted {
		return reply, err
	}
	// The connection that carried this vote may be the first since the node got a problem.
	err = n.guard.Verdict()
	if reply.Restart == nil {
		reply.Restart = n.guard.Restart()
	}
	return reply, err
}

// acquire sends the request, to a server that decides by its marker whether to vote.
func (n *node) acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	k := n.keys.of(req.Key)
	args := make([]any, 0, 3+6+10)
	args = n.appendKeys(args, k.lock, k.fence, k.tombstone(req.Token), k.next, k.queue)
	args = append(args, req.Token, req.Holder, millis(req.TTL), req.Floor, max(req.Run, 1))
	if w := req.Waiter; w.Enqueue || w.Ticket > 0 || req.Fair {
		ticket, window := "", int64(0)
		if w.Enqueue {
			ticket = formatInt(w.Ticket)
		}
		if req.Fair {
			window = millis(req.Window)
		}
		args = append(args, w.ID, ticket, window, n.counts)
	}
	sight := n.guard.Latest()
	args = append(args, sight.Expected())
	reply, err := n.scripts.acquire.Run(ctx, n.client, redisconn.Eval(), args)
	if err != nil {
		return driver.AcquireReply{}, classify(err)
	}
	parsed, err := parseAcquire(reply)
	if errors.Is(err, driver.ErrFenceCounter) {
		err = fmt.Errorf("%w: %q is not a whole number below 2^53: find out who set it; once it is deleted, tokens go on from the clock",
			err, k.fence)
	}
	if err == nil && parsed.Granted && sight.Expected() != "" && n.guard.Latest().RunID() != sight.RunID() {
		// The connection was made for this call, after its arguments: to another process,
		// whose marker may be a copy of the former's.
		err = fmt.Errorf("%w: another process has taken its place", driver.ErrQuarantined)
	}
	return parsed, err
}

// appendKeys appends two places for the command and the script, the number of keys and
// the keys: those given and, unless it has another slot, the server's marker.
func (n *node) appendKeys(args []any, keys ...string) []any {
	count := len(keys)
	if !n.guard.Cluster {
		count++
	}
	args = append(args, nil, nil, count)
	for _, key := range keys {
		args = append(args, key)
	}
	if !n.guard.Cluster {
		args = append(args, guard.MarkerKey)
	}
	return args
}

func (n *node) Raise(ctx context.Context, req driver.RaiseRequest) (bool, error) {
	k := n.keys.of(req.Key)
	reply, err := n.scripts.raise.Run(ctx, n.client, redisconn.Eval(), []any{
		nil, nil, 2, k.lock, k.fence,
		req.Token + ":" + formatUint(req.Counter), formatUint(req.Fence),
	})
	if err != nil {
		return false, classify(err)
	}
	code, err := parseCode(reply, 0, 1)
	return code == 1, err
}

func (n *node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	k := n.keys.of(req.Key)
	args := n.appendKeys(make([]any, 0, 3+4+7), k.lock, k.fence, k.tombstone(req.Token))
	args = append(args, req.Token, millis(req.TTL), flag(req.Refill), formatUint(req.Fence), req.Holder, flag(req.Rename),
		n.guard.Latest().Fingerprint())
	reply, err := n.scripts.extend.Run(ctx, n.client, redisconn.Eval(), args)
	if err != nil {
		return driver.ExtendGone, classify(err)
	}
	extended, err := parseExtend(reply)
	if other, ok := errors.AsType[unprovenError](err); ok {
		err = n.guard.OtherConfiguration(other.marker)
	}
	return extended, err
}

// flag is what scripts take for a bool.
func flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}

func (n *node) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	k := n.keys.of(req.Key)
	args := []any{
		nil, nil, 4,
		k.lock, k.tombstone(req.Token), k.next, k.queue,
		req.Token, millis(req.Tombstone), millis(req.Handoff), n.counts,
	}
	if req.Waiter.ID != "" {
		args = append(args, req.Waiter.ID, req.Waiter.Ticket)
	}
	reply, err := n.scripts.release.Run(ctx, n.client, redisconn.Eval(), args)
	if err != nil {
		return driver.ReleaseReply{}, classify(err)
	}
	return parseRelease(reply)
}

func (n *node) Leave(ctx context.Context, req driver.LeaveRequest) error {
	k := n.keys.of(req.Key)
	reply, err := n.scripts.leave.Run(ctx, n.client, redisconn.Eval(), []any{
		nil, nil, 3, k.lock, k.next, k.queue,
		req.WaiterID, millis(req.Handoff), n.counts,
	})
	if err != nil {
		return classify(err)
	}
	_, err = parseCode(reply, 0, 1)
	return err
}

func (n *node) Subscribe(ctx context.Context, waiterID string, wake func(string)) error {
	return n.listener.subscribe(ctx, waiterID, wake)
}

func (n *node) Close() error {
	n.listener.close()
	if err := n.client.Close(); err != nil {
		return fmt.Errorf("lock: close of %s: %w", n.name, err)
	}
	return nil
}

// millis rounds up, so that no TTL becomes zero and Redis never forgets early.
func millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
