package redsynclock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// node uses a redsync mutex for each request, on one pool or on all pools of a Redsync.
type node struct {
	driver.LockOnly
	set
	options []redsync.Option // of every mutex
	memory  time.Duration    // after which a token without extension holds no lock
	timeout time.Duration    // of Warm
	values  values
	calls   sync.WaitGroup // of redsync, including those whose callers gave up

	mu     sync.Mutex
	closed bool
	cause  error         // of the last call that failed, if none has succeeded since
	probed chan struct{} // closed when the probe under way is over; nil if there is none

	life context.Context
	end  context.CancelFunc
}

var _ driver.Node = (*node)(nil)

func newNode(name string, s set, options []redsync.Option, base *engine.Settings) *node {
	s.name = name
	life, end := context.WithCancel(context.Background())
	return &node{
		set: s, options: options, memory: base.MaxTTL, timeout: base.LongestNodeTimeout(), life: life, end: end,
	}
}

// Name implements driver.Node.
func (n *node) Name() string { return n.name }

// System implements driver.Node.
func (n *node) System() string { return "redis" }

// Capabilities implements driver.Node.
func (n *node) Capabilities() driver.Capabilities { return driver.Capabilities{Peek: n.pool != nil} }

// mutex returns a handle on a key, which is all that redsync stores. Its timeout is the call's remaining time,
// unless the user's options set another.
func (n *node) mutex(key string, ttl time.Duration, opts ...redsync.Option) *redsync.Mutex {
	first := []redsync.Option{redsync.WithTimeoutFactor(1)}
	return n.redsync.NewMutex(key, slices.Concat(first, n.options,
		[]redsync.Option{redsync.WithTries(1), redsync.WithExpiry(ttl)}, opts)...)
}

// Acquire implements driver.Node.
func (n *node) Acquire(call driver.Call, req *driver.AcquireRequest, to driver.Answer[driver.AcquireReply]) {
	v := n.values.add(req.Token, req.Token+"|"+req.Holder, n.memory)
	ask(n, call, to, func(ctx context.Context) (reply driver.AcquireReply, err error) {
		m := n.mutex(req.Key, req.TTL, redsync.WithGenValueFunc(func() (string, error) { return v.text, nil }))
		err = m.TryLockContext(ctx)
		switch {
		case err == nil:
			reply.Granted = true
			noteTaken(ctx, n.first, nil)
		case isTaken(err):
			noteTaken(ctx, n.first, takenBy(err))
			n.values.remove(req.Token)
			return n.refused(ctx, req.Key), nil
		}
		return reply, classify(err)
	}, func() { n.undo(req.Key, v) })
}

// refused reads the holder, if the pool allows it. The lock counts as held even if that fails.
func (n *node) refused(ctx context.Context, key string) (reply driver.AcquireReply) {
	if n.pool == nil {
		return reply
	}
	ctx, cancel := half(ctx) // what is known is said in time
	defer cancel()
	conn, err := n.pool.Get(ctx)
	if err != nil {
		return reply
	}
	defer func() { _ = conn.Close() }()
	value, err := conn.Get(key)
	if err != nil {
		return reply
	}
	if left, err := conn.PTTL(key); err == nil {
		_, reply.Holder, _ = strings.Cut(value, "|")
		reply.TTL = remaining(left)
	}
	return reply
}

// remaining distinguishes a key that is gone (-2) from one that never expires (-1). Clients return these in
// milliseconds or nanoseconds.
func remaining(pttl time.Duration) time.Duration {
	switch pttl {
	case -2, -2 * time.Millisecond:
		return 0
	case -1, -time.Millisecond:
		return -1
	}
	return pttl
}

// Raise implements driver.Node. There are no counters.
func (n *node) Raise(_ driver.Call, _ *driver.RaiseRequest, to driver.Answer[bool]) {
	to.Answer(false, errors.ErrUnsupported)
}

// Extend implements driver.Node.
func (n *node) Extend(call driver.Call, req *driver.ExtendRequest, to driver.Answer[driver.ExtendReply]) {
	v := n.values.add(req.Token, req.Token+"|"+req.Holder, n.memory)
	ask(n, call, to, func(ctx context.Context) (driver.ExtendReply, error) { return n.extend(ctx, req, v) },
		func() { n.undo(req.Key, v) })
}

func (n *node) extend(ctx context.Context, req *driver.ExtendRequest, v *value) (driver.ExtendReply, error) {
	err := agreed(n.mutex(req.Key, req.TTL, valueOf(v)).ExtendContext(ctx))
	switch {
	case err == nil:
		return driver.ExtendDone, nil
	case !isTaken(err):
		return 0, classify(err)
	case !req.Refill:
		return driver.ExtendGone, nil
	}
	err = agreed(n.mutex(req.Key, req.TTL, valueOf(v), redsync.WithSetNXOnExtend()).ExtendContext(ctx))
	switch {
	case err == nil:
		return driver.ExtendRefilled, nil
	case isTaken(err):
		return driver.ExtendTaken, nil
	}
	return 0, classify(err)
}

// Release implements driver.Node.
func (n *node) Release(call driver.Call, req *driver.ReleaseRequest, to driver.Answer[driver.ReleaseReply]) {
	v := n.values.find(req.Token)
	if v == nil { // it was refused, or has run out long ago
		to.Answer(driver.ReleaseReply{Found: driver.FoundNothing}, nil)
		return
	}
	if req.Tombstone > 0 {
		n.values.bury(v)
	}
	ask(n, call, to, func(ctx context.Context) (driver.ReleaseReply, error) { return n.release(ctx, req, v) }, nil)
}

func (n *node) release(ctx context.Context, req *driver.ReleaseRequest, v *value) (reply driver.ReleaseReply,
	err error) {
	err = agreed(n.mutex(req.Key, n.memory, valueOf(v)).UnlockContext(ctx))
	switch {
	case err == nil:
		reply.Found = driver.FoundOwn
	case errors.Is(err, redsync.ErrLockAlreadyExpired) && !anyServerError(err):
		reply.Found = driver.FoundNothing
	case isTaken(err):
		reply.Found = driver.FoundOther
	default:
		return reply, classify(err)
	}
	n.values.remove(req.Token)
	return reply, nil
}

// Leave implements driver.Node. There is no queue.
func (n *node) Leave(_ driver.Call, _ *driver.LeaveRequest, to driver.Answer[bool]) {
	to.Answer(false, nil)
}

// Subscribe implements driver.Node: waiters poll.
func (n *node) Subscribe(context.Context, string, func(string)) error { return driver.ErrNoWakeUps }

// Warm implements driver.Node. It waits no longer than a call.
func (n *node) Warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	select {
	case <-n.probe():
		return n.noAnswer()
	case <-ctx.Done():
		return driver.ErrTimeout
	}
}

// Close implements driver.Node. It waits for redsync's calls under way, at the latest until the client in the
// pool gives up. The pools stay open.
func (n *node) Close() error {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.end()
	n.calls.Wait()
	return nil
}
