package pglock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// The codes of function acquire.
const (
	codeHeld = iota
	codeGranted
	codeReserved
	codeTombstone
	codeCounter
	codeForgot
	codeSlots
	codeReaders
)

// node is one server. Each request calls one function of the schema.
type node struct {
	name     string
	pool     *pool
	timeout  time.Duration // of Warm
	calls    calls
	memory   time.Duration // length of the quarantine after a failover
	enforced bool
	listener *listener // nil: waiters poll
	pruner   *pruner

	mu       sync.Mutex
	reported time.Time // when the locks of the last reported failover will have expired
	reset    time.Time // when the connections were closed because the server is read-only
}

var _ driver.BlockingNode = (*node)(nil)

func newNode(name string, pool *pool, listener *listener, s settings, base *engine.Settings) *node {
	n := &node{
		name: name, pool: pool, calls: callsOf(s.schema), memory: base.MaxTTL, timeout: base.LongestNodeTimeout(),
		enforced: s.enforced,
	}
	if !s.poll {
		n.listener = listener
	}
	n.pruner = startPruner(n)
	return n
}

// Name implements driver.BlockingNode.
func (n *node) Name() string { return n.name }

// System implements driver.BlockingNode.
func (n *node) System() string { return "postgresql" }

// ask calls a function that returns one row.
func (n *node) ask(ctx context.Context, sql string, args []any, to ...any) error {
	conn, err := n.connection(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	err = classify(conn.QueryRow(ctx, sql, args...).Scan(to...))
	if errors.Is(err, driver.ErrReplica) {
		n.dialAgain()
	}
	return err
}

// dialAgain closes all connections, once a second at most: the address may lead to the new primary by now, and a server that
// turned read-only closes none.
func (n *node) dialAgain() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); now.Sub(n.reset) >= time.Second {
		n.reset = now
		n.pool.Reset()
	}
}

// connection returns a connection for a call. If it fails, nothing was sent.
func (n *node) connection(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := n.pool.Acquire(ctx)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() == nil:
		err = classify(err)
	case n.pool.Stat().ConstructingConns() > 0 || n.pool.Stat().TotalConns() == 0:
		err = driver.WithRemedy(fmt.Errorf("%w: connecting takes longer than the call: %w", driver.ErrUnreachable, err),
			checkServer)
	default: // every connection carries another call
		err = fmt.Errorf("all %d connections are in use: allow more using WithConnections: %v",
			n.pool.Stat().AcquiredConns(), err)
	}
	if !errors.Is(err, driver.ErrNotSent) {
		err = fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	return nil, err
}

// Acquire implements driver.BlockingNode.
func (n *node) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	var code int
	var fence, run, ttl, ticket, ahead, forgot, slots int64
	var holder string
	sql, args := n.acquire(&req)
	if err := n.ask(ctx, sql, args, &code, &fence, &run, &ttl, &holder, &ticket, &ahead, &forgot, &slots); err != nil {
		return driver.AcquireReply{}, err
	}
	reply := driver.AcquireReply{Restart: n.restart(forgot), Slots: int(slots)}
	switch code {
	case codeGranted:
		reply.Granted, reply.Counter, reply.Run = true, uint64(fence), uint64(run)
	case codeHeld, codeReserved:
		reply.Reserved, reply.TTL, reply.Holder = code == codeReserved, time.Duration(ttl)*time.Millisecond, holder
		reply.Ticket, reply.Ahead = ticket, int(ahead)
	case codeSlots: // the engine compares them
	case codeTombstone:
		return reply, driver.ErrTombstone
	case codeCounter:
		return reply, fmt.Errorf("%w: that of %q is at the maximum: find out who set it", driver.ErrFenceCounter,
			req.Key)
	case codeForgot:
		return reply, fmt.Errorf("%w: it was promoted, or restored from a backup: wait %v",
			driver.ErrQuarantined, time.Duration(forgot)*time.Millisecond)
	default:
		return reply, fmt.Errorf("%w: acquire returned code %d", driver.ErrBadReply, code)
	}
	return reply, nil
}

// restart reports a failover once.
func (n *node) restart(forgot int64) *driver.Restart {
	if forgot == 0 {
		return nil
	}
	left := time.Duration(forgot) * time.Millisecond
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); now.Before(n.reported) {
		return nil
	} else {
		n.reported = now.Add(left)
	}
	return &driver.Restart{Witnessed: true, Left: left, Enforced: n.enforced}
}

// Raise implements driver.BlockingNode.
func (n *node) Raise(ctx context.Context, req driver.RaiseRequest) (raised bool, err error) {
	err = n.ask(ctx, n.calls.raise, []any{req.Key, req.Token, int64(req.Counter), int64(req.Fence)}, &raised)
	return raised, err
}

// Extend implements driver.BlockingNode.
func (n *node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	var code int
	sql, args := n.extend(&req)
	if err := n.ask(ctx, sql, args, &code); err != nil {
		return 0, err
	}
	switch code {
	case 1:
		return driver.ExtendDone, nil
	case 2:
		return driver.ExtendRefilled, nil
	case -1:
		return driver.ExtendTaken, nil
	case -2:
		return driver.ExtendNoSlot, nil
	case -3:
		return 0, n.revoked(ctx, req.Key, req.Token)
	case 0:
		return driver.ExtendGone, nil
	}
	return 0, fmt.Errorf("%w: extend returned code %d", driver.ErrBadReply, code)
}

// Release implements driver.BlockingNode.
func (n *node) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	var found int
	var reply driver.ReleaseReply
	sql, args := n.release(&req)
	if err := n.ask(ctx, sql, args, &found, &reply.Named); err != nil {
		return driver.ReleaseReply{}, err
	}
	switch found {
	case 0:
		reply.Found = driver.FoundNothing
	case 1:
		reply.Found = driver.FoundOwn
	case 2:
		reply.Found = driver.FoundOther
	default:
		return reply, fmt.Errorf("%w: release returned code %d", driver.ErrBadReply, found)
	}
	return reply, nil
}

// Leave implements driver.BlockingNode.
func (n *node) Leave(ctx context.Context, req driver.LeaveRequest) error {
	var left bool
	sql := n.calls.leave
	if req.Mode != driver.Exclusive {
		sql = n.calls.leaveShared
	}
	return n.ask(ctx, sql, []any{req.Key, req.WaiterID, millis(req.Handoff)}, &left)
}

// Subscribe implements driver.BlockingNode.
func (n *node) Subscribe(ctx context.Context, waiterID string, wake func(key string)) error {
	if n.listener == nil {
		return driver.ErrNoWakeUps
	}
	return n.listener.subscribe(ctx, waiterID, wake)
}

// Warm opens a connection before it is needed. It waits no longer than a call; a slower
// connection is completed in the background.
func (n *node) Warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	conn, err := n.connection(ctx)
	if err == nil {
		conn.Release()
	}
	return err
}

// Close implements driver.BlockingNode.
func (n *node) Close() error {
	n.pruner.stop()
	if n.listener != nil {
		n.listener.close()
	}
	n.pool.close()
	return nil
}

// maxFence is the largest counter that a row can store.
const maxFence = 1<<63 - 1

// millis rounds up, so that no TTL becomes zero and the server never forgets early.
func millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
