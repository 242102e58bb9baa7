package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// blpopTimeout is the shortest that go-redis sends. A caller whose context ends leaves
// after this long at the latest: go-redis interrupts no command that is under way.
const blpopTimeout = time.Second

// blpopPeer is the floor of hand-offs: a token that goes round through a list, taken
// with BLPOP and given back with LPUSH. It knows no owner, and is gone for good when a
// holder dies. It lives on the first node, however many there are.
func blpopPeer() peer {
	return peer{
		name: "BLPOP",
		can:  func(w work) bool { return w.contended },
		open: func(_ context.Context, addrs []string) (locker, error) {
			return &blpopLocker{newClients(addrs[:1])}, nil
		},
		prepare: func(ctx context.Context, l locker, resource string) error {
			list, ok := l.(*blpopLocker)
			if !ok {
				return fmt.Errorf("no list in a %T", l)
			}
			return list.push(ctx, resource)
		},
	}
}

type blpopLocker struct{ clients }

func (l *blpopLocker) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	for {
		err := l.clients[0].BLPop(ctx, blpopTimeout, listOf(resource)).Err()
		if err == nil {
			return func(ctx context.Context) error { return l.push(ctx, resource) }, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !errors.Is(err, redis.Nil) {
			return nil, err
		}
	}
}

func (l *blpopLocker) push(ctx context.Context, resource string) error {
	return l.clients[0].LPush(ctx, listOf(resource), "token").Err()
}

// listOf keeps the lists apart from the keys of the others.
func listOf(resource string) string { return "list:" + resource }
