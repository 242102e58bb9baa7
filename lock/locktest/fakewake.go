package locktest

import (
	"context"
	"sync"
	"time"
)

// resubscribeAfter is how long a client takes to notice that its server is back.
const resubscribeAfter = 200 * time.Millisecond

// subscription is a node's wake-ups. The fields above done are guarded by the
// server's mutex.
type subscription struct {
	waiter string // "" before Subscribe
	wake   func(lockKey string)
	heard  bool // the server knows of it
	closed bool

	done chan struct{}
	wg   sync.WaitGroup // wake-ups and new subscriptions on their way
}

// Subscribe implements driver.BlockingNode.
func (n *FakeNode) Subscribe(ctx context.Context, waiterID string, wake func(lockKey string)) error {
	if n.subscribed() {
		return nil
	}
	return n.send(ctx, "subscribe", func(*commands) {
		if !n.closed {
			n.waiter, n.wake, n.heard = waiterID, wake, true
			n.server.tell("subscribe", "%.6s", waiterID)
		}
	}, func(*commands) {})
}

func (n *FakeNode) subscribed() bool {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	return n.waiter != ""
}

// Close implements driver.BlockingNode: no wake-up comes after it. Requests already under
// way may still take effect on the server.
func (n *FakeNode) Close() error {
	n.server.mu.Lock()
	if !n.closed {
		n.closed, n.heard = true, false
		delete(n.server.links, n)
		close(n.done)
	}
	n.server.mu.Unlock()
	n.wg.Wait()
	return nil
}

// hears reports that this node listens for waiter. It expects server.mu to be
// held, like all below.
func (n *FakeNode) hears(waiter string) bool { return n.heard && n.waiter == waiter }

// deaf forgets the subscription, as when the connection breaks.
func (n *FakeNode) deaf() { n.heard = false }

// deliver brings the waiter a message, unless it gets lost.
func (n *FakeNode) deliver(lockKey string) {
	n.mu.Lock()
	r := n.rng("wake " + lockKey)
	lost, d := r.Float64() < n.faults.LoseWake, n.faults.WakeDelay.draw(r)
	n.mu.Unlock()
	if !lost {
		n.later(d, func() { n.wake(lockKey) })
	}
}

// resubscribe comes back to a server that has restarted, and says so: messages
// may have been missed.
func (n *FakeNode) resubscribe(run int) {
	if n.waiter == "" || n.heard {
		return
	}
	n.later(resubscribeAfter, func() {
		n.server.mu.Lock()
		back := n.server.run == run && !n.server.down && !n.closed
		n.heard = n.heard || back
		n.server.mu.Unlock()
		if back {
			n.wake("")
		}
	})
}

func (n *FakeNode) later(d time.Duration, do func()) {
	if n.closed {
		return
	}
	n.wg.Go(func() {
		if slept(d, n.done) {
			do()
		}
	})
}

// slept waits for d. It reports false if done was closed before. In fake time a timer that is due when it is made may
// crash the race detector (golang/go#78156).
func slept(d time.Duration, done <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	}
}
