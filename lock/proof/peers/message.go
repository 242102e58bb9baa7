package main

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"
)

// acquireQueued is the least that waits in a queue. KEYS 1 lock 2 queue 3 reservation; ARGV 1 token 2 ttl ms 3 waiter;
// replies 0 to a waiter that is queued, once.
const acquireQueued = `local kept = redis.call('GET', KEYS[3])
if (not kept or kept == ARGV[3]) and redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  redis.call('DEL', KEYS[3])
  return 1
end
redis.call('RPUSH', KEYS[2], ARGV[3])
return 0`

// releaseToNext keeps the lock for the first waiter, and sends it a message. KEYS as above; ARGV 1 token.
const releaseToNext = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
local waiter = redis.call('LPOP', KEYS[2])
if waiter then
  redis.call('SET', KEYS[3], waiter)
  redis.call('PUBLISH', waiter, KEYS[1])
end
return 1`

// messagePeer is the floor of hand-offs in three steps: a release, a message to the first of a queue, and its acquire. It
// never polls, and a waiter that dies blocks the queue.
func messagePeer() peer {
	return peer{
		name: "message",
		can:  func(w work) bool { return w.contended && !w.oneProcess },
		open: func(ctx context.Context, addrs []string) (locker, error) {
			l := &messageLocker{
				clients: newClients(addrs[:1]), id: newToken(),
				lock: redis.NewScript(acquireQueued), unlock: redis.NewScript(releaseToNext),
			}
			l.messages = l.clients[0].Subscribe(ctx, l.id)
			_, err := l.messages.Receive(ctx)
			if err != nil {
				return nil, errors.Join(err, l.Close())
			}
			return l, nil
		},
	}
}

// messageLocker serves one caller, who reads the messages.
type messageLocker struct {
	clients
	id           string
	messages     *redis.PubSub
	lock, unlock *redis.Script
}

func (l *messageLocker) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	token, keys := newToken(), []string{resource, "queue:" + resource, "kept:" + resource}
	for {
		got, err := l.lock.Run(ctx, l.clients[0], keys, token, ttl.Milliseconds(), l.id).Int()
		if err != nil {
			return nil, err
		}
		if got == 1 {
			return func(ctx context.Context) error { return l.unlock.Run(ctx, l.clients[0], keys, token).Err() }, nil
		}
		if err := l.await(ctx, resource); err != nil {
			return nil, err
		}
	}
}

// await reads messages until one names resource.
func (l *messageLocker) await(ctx context.Context, resource string) error {
	for {
		got, err := l.messages.ReceiveTimeout(ctx, blpopTimeout)
		if message, ok := got.(*redis.Message); ok && message.Payload == resource {
			return nil
		}
		var late net.Error
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !(errors.As(err, &late) && late.Timeout()) {
			return err
		}
	}
}

func (l *messageLocker) Close() error { return errors.Join(l.messages.Close(), l.clients.Close()) }
