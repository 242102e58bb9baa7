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
)

// node asks a redsync mutex for each request: of one pool, or of all those of a Redsync.
type node struct {
	set
	options []redsync.Option // of every mutex
	memory  time.Duration    // after which a token that nobody extended holds nothing
	values  values
	calls   sync.WaitGroup // of redsync, also such as nobody waits for any more
}

var _ driver.BlockingNode = (*node)(nil)

func newNode(name string, s set, options []redsync.Option, memory time.Duration) *node {
	s.name = name
	return &node{set: s, options: options, memory: memory}
}

// Name implements driver.BlockingNode.
func (n *node) Name() string { return n.name }

// System implements driver.BlockingNode.
func (n *node) System() string { return "redis" }

// mutex is a handle on a key: redsync keeps nothing on the servers but that. redsync's
// own timeout is what the call has left, unless the user's options say otherwise.
func (n *node) mutex(key string, ttl time.Duration, opts ...redsync.Option) *redsync.Mutex {
	first := []redsync.Option{redsync.WithTimeoutFactor(1)}
	return n.redsync.NewMutex(key, slices.Concat(first, n.options, []redsync.Option{redsync.WithTries(1), redsync.WithExpiry(ttl)}, opts)...)
}

// Acquire implements driver.BlockingNode.
func (n *node) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	v := n.values.add(req.Token, req.Token+"|"+req.Holder, n.memory)
	m := n.mutex(req.Key, max(req.TTL, time.Millisecond), redsync.WithGenValueFunc(func() (string, error) { return v.text, nil }))
	err := n.within(ctx, req.Key, v, m.TryLockContext)
	switch {
	case err == nil:
		return driver.AcquireReply{Granted: true}, nil
	case isTaken(err):
		n.values.remove(req.Token)
		return n.refused(ctx, req.Key)
	}
	return driver.AcquireReply{}, classify(err)
}

// refused reads who has the key, where that can be asked.
func (n *node) refused(ctx context.Context, key string) (driver.AcquireReply, error) {
	if n.pool == nil {
		return driver.AcquireReply{}, nil
	}
	var found driver.AcquireReply
	end, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(end)/2) // what is known is said in time
	defer cancel()
	err := n.bounded(ctx, func(ctx context.Context) error {
		conn, err := n.pool.Get(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		value, err := conn.Get(key)
		if err != nil {
			return err
		}
		left, err := conn.PTTL(key)
		if err != nil {
			return err
		}
		_, found.Holder, _ = strings.Cut(value, "|")
		found.TTL = remaining(left)
		return nil
	}, nil)
	if err != nil {
		return driver.AcquireReply{}, nil // it is held nevertheless
	}
	return found, nil
}

// remaining tells a key that is gone by now (-2) from one that never expires (-1), which
// clients give in milliseconds or in nanoseconds.
func remaining(pttl time.Duration) time.Duration {
	switch pttl {
	case -2, -2 * time.Millisecond:
		return 0
	case -1, -time.Millisecond:
		return -1
	}
	return pttl
}

// Raise implements driver.BlockingNode. There are no counters.
func (n *node) Raise(context.Context, driver.RaiseRequest) (bool, error) {
	return false, errors.ErrUnsupported
}

// Extend implements driver.BlockingNode.
func (n *node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	v := n.values.add(req.Token, req.Token+"|"+req.Holder, n.memory)
	extend := func(opts ...redsync.Option) error {
		m := n.mutex(req.Key, req.TTL, append(opts, valueOf(v))...)
		return n.within(ctx, req.Key, v, func(ctx context.Context) error { return agreed(m.ExtendContext(ctx)) })
	}
	err := extend()
	switch {
	case err == nil:
		return driver.ExtendDone, nil
	case !isTaken(err):
		return 0, classify(err)
	case !req.Refill:
		return driver.ExtendGone, nil
	}
	err = extend(redsync.WithSetNXOnExtend())
	switch {
	case err == nil:
		return driver.ExtendRefilled, nil
	case isTaken(err):
		return driver.ExtendTaken, nil
	}
	return 0, classify(err)
}

// Release implements driver.BlockingNode.
func (n *node) Release(ctx context.Context, req driver.ReleaseRequest) (reply driver.ReleaseReply, err error) {
	v := n.values.find(req.Token)
	if v == nil {
		return reply, nil // it was refused, or has run out long ago
	}
	if req.Tombstone > 0 {
		n.values.bury(v)
	}
	err = n.unlock(ctx, req.Key, v)
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

func (n *node) unlock(ctx context.Context, key string, v *value) error {
	m := n.mutex(key, n.memory, valueOf(v))
	return n.bounded(ctx, func(ctx context.Context) error { return agreed(m.UnlockContext(ctx)) }, nil)
}

// Leave implements driver.BlockingNode. There is no queue.
func (n *node) Leave(context.Context, driver.LeaveRequest) error { return nil }

// Subscribe implements driver.BlockingNode: waiters poll.
func (n *node) Subscribe(context.Context, string, func(string)) error { return driver.ErrNoWakeUps }

// Warm implements driver.Warmer: it reads a key that nobody writes.
func (n *node) Warm(ctx context.Context) error {
	m := n.mutex("lockscope:warm", n.memory, redsync.WithValue("-"))
	return n.bounded(ctx, func(ctx context.Context) error {
		_, err := m.ValidContext(ctx)
		return err
	}, nil)
}

// Close implements driver.BlockingNode. It waits for calls of redsync that nobody waited
// for: until the client under the pool gives up. The pools stay open.
func (n *node) Close() error {
	n.calls.Wait()
	return nil
}
