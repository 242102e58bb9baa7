package lock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/internal/guard"
)

// redisNode is a Node on a go-redis client.
type redisNode struct {
	name     string
	client   client
	scripts  *scripts
	guard    *guard.Guard
	counts   string // '1' if PUBLISH tells how many listen on the whole node
	listener listener
}

func newRedisNode(d *derived, name string, g *guard.Guard, s *scripts, timeout time.Duration) *redisNode {
	n := &redisNode{name: name, client: d, scripts: s, guard: g, counts: "1"}
	if d.cluster {
		n.counts = "0"
	}
	n.listener.init(d, timeout)
	return n
}

func (n *redisNode) Name() string { return n.name }

func (n *redisNode) Acquire(ctx context.Context, req AcquireRequest) (AcquireReply, error) {
	if err := n.guard.Admit(ctx, nodeServer{n.client}); err != nil {
		return AcquireReply{Restart: n.restart()}, fmt.Errorf("%w: %w", ErrNodeBusy, err)
	}
	args := []any{
		nil, nil, 5,
		req.Keys.Lock, req.Keys.Fence, req.Keys.Tombstone(req.Token), req.Keys.Next, req.Keys.Queue,
		req.Token, req.Holder, millis(req.TTL), req.Floor,
	}
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
	reply, err := n.scripts.acquire.run(ctx, n.client, args)
	if err != nil {
		return AcquireReply{Restart: n.restart()}, nodeFault(err)
	}
	n.guard.Answered()
	parsed, err := parseAcquire(reply)
	parsed.Restart = n.restart()
	if errors.Is(err, ErrFenceCounter) {
		err = fmt.Errorf("%w: %q is not a whole number below 2^53: find out who set it; once it is deleted, tokens go on from the clock",
			err, req.Keys.Fence)
	}
	if err != nil || !parsed.Granted {
		return parsed, err
	}
	// The connection that carried this vote may be the first since a restart.
	return parsed, n.guard.Verdict()
}

// restart is a restart the guard has noticed and nobody was told of; nil if there is none.
func (n *redisNode) restart() *NodeRestart {
	r, ok := n.guard.Restart()
	if !ok {
		return nil
	}
	return &NodeRestart{Node: n.name, Witnessed: r.Witnessed, Left: r.Left, Enforced: r.Enforced}
}

func (n *redisNode) Raise(ctx context.Context, req RaiseRequest) (bool, error) {
	reply, err := n.scripts.raise.run(ctx, n.client, []any{
		nil, nil, 2, req.Keys.Lock, req.Keys.Fence,
		req.Token + ":" + formatUint(req.Counter), formatUint(req.Fence),
	})
	if err != nil {
		return false, nodeFault(err)
	}
	code, err := parseCode(reply, 0, 1)
	return code == 1, err
}

func (n *redisNode) Extend(ctx context.Context, req ExtendRequest) (Extension, error) {
	refill := "0"
	if req.Refill {
		refill = "1"
	}
	reply, err := n.scripts.extend.run(ctx, n.client, []any{
		nil, nil, 3, req.Keys.Lock, req.Keys.Fence, req.Keys.Tombstone(req.Token),
		req.Token, millis(req.TTL), refill, formatUint(req.Fence), req.Holder,
	})
	if err != nil {
		return ExtendGone, nodeFault(err)
	}
	n.guard.Answered()
	code, err := parseCode(reply, -1, 2)
	switch code {
	case 1:
		return Extended, err
	case 2:
		return ExtendRefilled, err
	case -1:
		return ExtendTaken, err
	}
	return ExtendGone, err
}

func (n *redisNode) Release(ctx context.Context, req ReleaseRequest) (ReleaseReply, error) {
	args := []any{
		nil, nil, 4,
		req.Keys.Lock, req.Keys.Tombstone(req.Token), req.Keys.Next, req.Keys.Queue,
		req.Token, millis(req.Tombstone), millis(req.Handoff), n.counts,
	}
	if req.Waiter.ID != "" {
		args = append(args, req.Waiter.ID, req.Waiter.Ticket)
	}
	reply, err := n.scripts.release.run(ctx, n.client, args)
	if err != nil {
		return ReleaseReply{}, nodeFault(err)
	}
	return parseRelease(reply)
}

func (n *redisNode) Leave(ctx context.Context, req LeaveRequest) error {
	reply, err := n.scripts.leave.run(ctx, n.client, []any{
		nil, nil, 3, req.Keys.Lock, req.Keys.Next, req.Keys.Queue,
		req.WaiterID, millis(req.Handoff), n.counts,
	})
	if err != nil {
		return nodeFault(err)
	}
	_, err = parseCode(reply, 0, 1)
	return err
}

func (n *redisNode) Subscribe(ctx context.Context, waiterID string, wake func(string)) error {
	return n.listener.subscribe(ctx, waiterID, wake)
}

func (n *redisNode) Close() error {
	n.listener.close()
	if err := n.client.Close(); err != nil {
		return fmt.Errorf("lock: close of %s: %w", n.name, err)
	}
	return nil
}

// nodeFault tells a node that did not answer in time from one that answered with
// an error. The context error stays out: it is the node's timeout, not the caller's.
func nodeFault(err error) error {
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, redis.ErrPoolTimeout) || errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w (%v)", ErrNodeTimeout, err)
	}
	var reply redis.Error
	if errors.As(err, &reply) {
		if text, _, quotes := strings.Cut(reply.Error(), ", with args beginning with"); quotes {
			return serverReply(text)
		}
	}
	return err
}

// serverReply is an error a node replied with, without the arguments it quotes: a
// server that does not know EVALSHA repeats them, and the token is one.
type serverReply string

func (e serverReply) Error() string { return string(e) }

// RedisError marks the reply as one, as go-redis does.
func (serverReply) RedisError() {}

// millis rounds up, so that no TTL becomes zero and Redis never forgets early.
func millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
