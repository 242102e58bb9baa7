package zklock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// node is an ensemble, with one session.
type node struct {
	name  string
	link  *link
	root  string
	acl   []zk.ACL
	life  context.Context
	end   context.CancelFunc
	works sync.WaitGroup
	clock engine.Clock

	crowded atomic.Int32 // for how many more queues other places are expected

	mu      sync.Mutex
	closed  bool
	byToken map[string]*place // places of attempts
	waiting map[string]*place // by key: places of this process between two attempts
	wake    func(key string)  // nil before Subscribe
	base    fenceBase
	numbers map[string]number // of slots, by semaphore, as read last
}

var _ driver.BlockingNode = (*node)(nil)

func newNode(name string, l *link, s settings, clock engine.Clock) *node {
	life, end := context.WithCancel(context.Background())
	return &node{
		name: name, link: l, root: s.root, acl: s.acl, life: life, end: end, clock: clock,
		byToken: make(map[string]*place), waiting: make(map[string]*place), numbers: make(map[string]number),
	}
}

// Name implements driver.BlockingNode.
func (n *node) Name() string { return n.name }

// System implements driver.BlockingNode.
func (n *node) System() string { return "zookeeper" }

// Acquire implements driver.BlockingNode.
func (n *node) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	p, queued := n.begin(req)
	enter := func() (driver.AcquireReply, error) { return n.enter(p, req, queued) }
	reply, err := within(ctx, n, n.link.awaitReachable, enter, func() { n.removeBuried(p) })
	if errors.Is(err, driver.ErrNotSent) {
		n.forget(req.Token)
	}
	return reply, err
}

// Raise implements driver.BlockingNode. There is one counter, and so nothing to agree on.
func (n *node) Raise(context.Context, driver.RaiseRequest) (bool, error) {
	return false, errors.ErrUnsupported
}

// repeat makes a call again after a lost connection, until shortly before the deadline. again says that a call was cut
// off: it may have taken effect.
func (n *node) repeat(ctx context.Context, call func() error) (again bool, err error) {
	for {
		if err = call(); !isDisconnect(err) || n.reconnect(ctx) != nil {
			break
		}
		again = true
	}
	if again {
		return true, cutOff(err)
	}
	return false, classify(err)
}

// reconnect waits for a session after a call was cut off, until shortly before the deadline.
func (n *node) reconnect(ctx context.Context) error {
	return intime(ctx, func(ctx context.Context) error {
		select {
		case <-time.After(retryEvery): // the client may not know yet
		case <-ctx.Done():
		}
		return n.link.await(ctx)
	})
}

// Release implements driver.BlockingNode.
func (n *node) Release(ctx context.Context, req driver.ReleaseRequest) (reply driver.ReleaseReply, err error) {
	n.mu.Lock()
	p := n.byToken[req.Token]
	n.mu.Unlock()
	if p == nil {
		return reply, nil
	}
	path := n.bury(p)
	if path != "" { // else the call that creates it removes it
		giveBack := func() (driver.ReleaseFound, error) { return n.giveBack(ctx, p, path) }
		reply.Found, err = within(ctx, n, n.link.await, giveBack, nil)
	}
	if err == nil {
		n.forget(req.Token)
	}
	return reply, err
}

// giveBack deletes a place.
func (n *node) giveBack(ctx context.Context, p *place, path string) (driver.ReleaseFound, error) {
	session := n.link.SessionID()
	again, err := n.repeat(ctx, func() error { return n.link.Delete(path, -1) })
	switch {
	case err == nil:
		return driver.FoundOwn, nil
	case !errors.Is(err, zk.ErrNoNode):
		return 0, err
	case again && n.link.SessionID() == session:
		return driver.FoundOwn, nil // the call that was cut off took effect
	}
	return n.whoHolds(p), nil
}

// whoHolds reports whether somebody else may hold the lock that the place was for.
func (n *node) whoHolds(p *place) driver.ReleaseFound {
	if names, _, err := n.link.Children(p.dir); err == nil && len(p.rivals(queueOf(names))) > 0 {
		return driver.FoundOther
	}
	return driver.FoundNothing
}

// Leave implements driver.BlockingNode.
func (n *node) Leave(ctx context.Context, req driver.LeaveRequest) error {
	n.mu.Lock()
	p := n.waiting[req.Key]
	n.mu.Unlock()
	if p == nil {
		return nil
	}
	path := n.bury(p)
	n.run(func() { n.remove(path) })
	return nil
}

// Subscribe implements driver.BlockingNode. Waiters watch the place in front.
func (n *node) Subscribe(_ context.Context, _ string, wake func(key string)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wake == nil {
		n.wake = wake
	}
	return nil
}

// Warm implements driver.Warmer. It waits for a session until every server was tried.
func (n *node) Warm(ctx context.Context) error { return n.link.awaitTried(ctx) }

// Close implements driver.BlockingNode. It ends the session and with it every place. If a lock is held, it
// lets the session expire instead.
func (n *node) Close() error {
	n.mu.Lock()
	n.closed = true
	held := false
	for _, p := range n.byToken {
		for _, timer := range []*time.Timer{p.expiry, p.rename} {
			if timer != nil {
				timer.Stop()
				held = held || !p.buried
			}
		}
	}
	n.mu.Unlock()
	n.end()
	err := n.link.close(held)
	n.works.Wait()
	return err
}

// checkTTL refuses TTLs that the ensemble's sessions are too short for, once their timeout is known.
func (n *node) checkTTL(ttl time.Duration) error {
	allowed := n.link.allowed()
	longest := LongestTTL(allowed)
	if allowed > 0 && ttl > longest {
		return fmt.Errorf("%w: it grants sessions of %v: use a TTL of at most %v, or raise maxSessionTimeout",
			driver.ErrMisconfigured, allowed, longest.Truncate(time.Millisecond))
	}
	return nil
}
