// Package wakeup receives the messages with which a release names the next waiter.
package wakeup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/internal/dial"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

const (
	// heartbeat is how long a subscription may be silent before it is probed.
	heartbeat = 5 * time.Second
	// The pauses between two tries to subscribe again double from the first to the last: a node that is down, or so busy
	// that it does not answer in time, is not dialled by all processes in a loop.
	firstPause = 200 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Listener is a node's subscription to the channel on which releases name this process's waiter. It begins with
// the first wait and lasts until Close.
type Listener struct {
	client  Subscriber
	timeout time.Duration
	ctx     context.Context
	cancel  context.CancelFunc
	done    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	current *redis.PubSub // nil until the first subscription is confirmed
}

// Subscriber is the part of a go-redis client that a listener needs.
type Subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// New returns a listener on this client. Close the listener, then the client.
func New(c Subscriber, timeout time.Duration) *Listener {
	ctx, cancel := context.WithCancel(context.Background())
	return &Listener{client: c, timeout: timeout, ctx: ctx, cancel: cancel}
}

// Subscribe returns once the node confirmed the subscription.
func (l *Listener) Subscribe(ctx context.Context, waiterID string, wake func(string)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return driver.ErrClosed
	}
	if l.current != nil {
		return nil
	}
	ps, err := l.open(ctx, waiterID, l.timeout)
	if err != nil {
		return scripts.Classify(err)
	}
	l.current = ps
	l.done.Go(func() { l.listen(ps, waiterID, wake) })
	return nil
}

func (l *Listener) open(ctx context.Context, waiterID string, timeout time.Duration) (*redis.PubSub, error) {
	ps := l.client.Subscribe(ctx)
	err := ps.Subscribe(ctx, scripts.WakeChannel(waiterID))
	if err == nil { // without a connection, Receive would dial another one
		var msg any
		msg, err = ps.ReceiveTimeout(ctx, timeout)
		if _, ok := msg.(*redis.Subscription); err == nil && !ok {
			err = fmt.Errorf("%w: subscribe replied a %T", driver.ErrBadReply, msg)
		}
	}
	if err != nil {
		_ = ps.Close()
		return nil, err
	}
	return ps, nil
}

// listen forwards messages until Close. After a broken connection it wakes all waiters, since messages may be
// lost.
func (l *Listener) listen(ps *redis.PubSub, waiterID string, wake func(string)) {
	for {
		l.receive(ps, wake)
		_ = ps.Close()
		if ps = l.reopen(waiterID); ps == nil {
			return
		}
		wake("")
	}
}

// receive returns when the subscription is broken or silent for two heartbeats.
func (l *Listener) receive(ps *redis.PubSub, wake func(string)) {
	for probed := false; ; {
		msg, err := ps.ReceiveTimeout(l.ctx, heartbeat)
		var timeout net.Error
		switch {
		case err == nil:
			probed = false
			if m, ok := msg.(*redis.Message); ok {
				wake(m.Payload)
			}
		case !probed && errors.As(err, &timeout) && timeout.Timeout():
			probed = true
			if ps.Ping(l.ctx) != nil {
				return
			}
		default:
			return
		}
	}
}

// reopen subscribes again until it succeeds; it returns nil once closed. Nobody waits for it, so the node may take as
// long as for any other connection.
func (l *Listener) reopen(waiterID string) *redis.PubSub {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		timeout := dial.Timeout(l.timeout)
		ctx, cancel := context.WithTimeout(l.ctx, timeout)
		ps, err := l.open(ctx, waiterID, timeout)
		cancel()
		if err == nil && l.adopt(ps) {
			return ps
		}
		select {
		case <-l.ctx.Done():
			return nil
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
	}
}

func (l *Listener) adopt(ps *redis.PubSub) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = ps.Close()
		return false
	}
	l.current = ps
	return true
}

// Close ends the subscription.
func (l *Listener) Close() {
	l.mu.Lock()
	l.closed = true
	current := l.current
	l.mu.Unlock()
	l.cancel()
	if current != nil {
		_ = current.Close()
	}
	l.done.Wait()
}
