package memlock

import (
	"context"
	"sync"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/internal/memstate"
)

// link is one locker's connection to a node.
type link struct {
	*Node
	name string // that the locker calls the node

	// Guarded by the node's mutex.
	waiter string // "" before Subscribe
	wake   func(key string)

	wakes sync.WaitGroup // wake-ups on their way
}

var _ driver.BlockingNode = (*link)(nil)

func (n *Node) connect(name string) *link {
	l := &link{Node: n, name: name}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[l] = struct{}{}
	return l
}

// Name implements driver.BlockingNode.
func (l *link) Name() string { return l.name }

// System implements driver.BlockingNode.
func (l *link) System() string { return "memory" }

// Capabilities implements driver.BlockingNode.
func (l *link) Capabilities() driver.Capabilities {
	serves := l.serves()
	return driver.Capabilities{
		Peek: true, Revoke: true, Keep: true, Readers: true, Slots: serves != NoSlots, SlotQueue: serves == OneQueue,
	}
}

func (l *link) serves() Semaphores {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.semaphores
}

// Warm implements driver.BlockingNode.
func (l *link) Warm(context.Context) error { return nil }

// ask runs a command and returns its answer, or an error with the zero answer.
func ask[T any](ctx context.Context, l *link, do func(*memstate.Instant) T) (answer T, err error) {
	var given T // written by the node, perhaps after this call has returned
	if err := l.execute(ctx, func(s *memstate.Instant) { given = do(s) }); err != nil {
		return answer, err
	}
	return given, nil
}

// Acquire implements driver.BlockingNode.
func (l *link) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	type vote struct {
		reply driver.AcquireReply
		err   error
	}
	if l.serves() == NoSlots {
		req.Semaphore = nil
	}
	v, err := ask(ctx, l, func(s *memstate.Instant) (v vote) {
		v.reply, v.err = s.Acquire(req)
		return v
	})
	if err != nil {
		return driver.AcquireReply{}, err
	}
	return v.reply, v.err
}

// Raise implements driver.BlockingNode.
func (l *link) Raise(ctx context.Context, req driver.RaiseRequest) (bool, error) {
	return ask(ctx, l, func(s *memstate.Instant) bool { return s.Raise(req) })
}

// Extend implements driver.BlockingNode.
func (l *link) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	if l.serves() == NoSlots {
		req.Semaphore = nil
	}
	type answer struct {
		reply driver.ExtendReply
		err   error
	}
	a, err := ask(ctx, l, func(s *memstate.Instant) (a answer) {
		a.reply, a.err = s.Extend(req, true)
		return a
	})
	if err != nil {
		return driver.ExtendGone, err
	}
	return a.reply, a.err
}

// Release implements driver.BlockingNode.
func (l *link) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	return ask(ctx, l, func(s *memstate.Instant) driver.ReleaseReply { return s.Release(req) })
}

// Leave implements driver.BlockingNode.
func (l *link) Leave(ctx context.Context, req driver.LeaveRequest) error {
	_, err := ask(ctx, l, func(s *memstate.Instant) struct{} {
		s.Leave(req)
		return struct{}{}
	})
	return err
}

// Peek implements driver.BlockingNode.
func (l *link) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	return ask(ctx, l, func(s *memstate.Instant) driver.PeekReply { return s.Peek(req) })
}

// Revoke implements driver.BlockingNode.
func (l *link) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	return ask(ctx, l, func(s *memstate.Instant) driver.RevokeReply { return s.Revoke(req) })
}

// Resize implements driver.BlockingNode.
func (l *link) Resize(ctx context.Context, req driver.ResizeRequest) (driver.ResizeReply, error) {
	if l.serves() == NoSlots {
		return driver.BlockingLockOnly{}.Resize(ctx, req)
	}
	return ask(ctx, l, func(s *memstate.Instant) driver.ResizeReply { return s.Resize(req) })
}

// Subscribe implements driver.BlockingNode.
func (l *link) Subscribe(ctx context.Context, waiterID string, wake func(key string)) error {
	return l.execute(ctx, func(*memstate.Instant) {
		l.waiter, l.wake = waiterID, wake
	})
}

// tell wakes the locker if waiter is its ID. The node's mutex is held.
func (l *link) tell(waiter, key string) bool {
	if l.waiter != waiter {
		return false
	}
	wake := l.wake
	l.wakes.Go(func() { wake(key) })
	return true
}

// Close implements driver.BlockingNode. No wake-up comes after it returns.
func (l *link) Close() error {
	l.mu.Lock()
	delete(l.links, l)
	l.mu.Unlock()
	l.wakes.Wait()
	return nil
}
