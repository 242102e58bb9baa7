package redlock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/redis/go-redis/v9"
)

const (
	wakeChannelPrefix = "lockscope:wake:"
	// heartbeat is how long a subscription may be silent before it is probed.
	heartbeat = 5 * time.Second
	// resubscribePause keeps a node that is down from being dialled in a loop.
	resubscribePause = 200 * time.Millisecond
)

// listener is a node's one subscription: to the channel on which releases name
// this process's waiter. It begins with the first wait and lasts until close.
type listener struct {
	client  subscriber
	timeout time.Duration
	ctx     context.Context
	cancel  context.CancelFunc
	done    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	current *redis.PubSub // nil until the first subscription is confirmed
}

// subscriber is the part of a go-redis client that a listener needs.
type subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
	Close() error
}

func (l *listener) init(c subscriber, timeout time.Duration) {
	l.client, l.timeout = c, timeout
	l.ctx, l.cancel = context.WithCancel(context.Background())
}

// subscribe returns once the node confirmed the subscription.
func (l *listener) subscribe(ctx context.Context, waiterID string, wake func(string)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return driver.ErrClosed
	}
	if l.current != nil {
		return nil
	}
	ps, err := l.open(ctx, waiterID)
	if err != nil {
		return classify(err)
	}
	l.current = ps
	l.done.Go(func() { l.listen(ps, waiterID, wake) })
	return nil
}

func (l *listener) open(ctx context.Context, waiterID string) (*redis.PubSub, error) {
	ps := l.client.Subscribe(ctx, wakeChannelPrefix+waiterID)
	msg, err := ps.ReceiveTimeout(ctx, l.timeout)
	if _, ok := msg.(*redis.Subscription); err == nil && !ok {
		err = fmt.Errorf("%w: %T instead of a subscription", driver.ErrBadReply, msg)
	}
	if err != nil {
		_ = ps.Close()
		return nil, err
	}
	return ps, nil
}

// listen passes messages on until close. After a break it wakes everybody: what
// was said meanwhile is lost.
func (l *listener) listen(ps *redis.PubSub, waiterID string, wake func(string)) {
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
func (l *listener) receive(ps *redis.PubSub, wake func(string)) {
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

// reopen subscribes again until it succeeds; it returns nil once closed.
func (l *listener) reopen(waiterID string) *redis.PubSub {
	for {
		ctx, cancel := context.WithTimeout(l.ctx, l.timeout)
		ps, err := l.open(ctx, waiterID)
		cancel()
		if err == nil && l.adopt(ps) {
			return ps
		}
		select {
		case <-l.ctx.Done():
			return nil
		case <-time.After(resubscribePause):
		}
	}
}

func (l *listener) adopt(ps *redis.PubSub) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = ps.Close()
		return false
	}
	l.current = ps
	return true
}

func (l *listener) close() {
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
