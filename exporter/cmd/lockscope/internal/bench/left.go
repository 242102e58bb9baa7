package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/pause"
	"github.com/lockscope/lockscope/lock/redlock"
)

const (
	leftTimeout = 3 * time.Second // of a look at the nodes
	leftPause   = 100 * time.Millisecond
)

// leftovers are the keys of a bench that its nodes still have at the end.
type leftovers struct {
	keys    map[string]int // by node
	expire  time.Duration  // of the one that expires last
	unknown []string       // nodes that did not answer
}

// left asks all nodes until no key is left, or until no lock of the bench can be. A node that was busy or hung may take
// a lock after its caller gave up, and then keeps it for a TTL. A queue lasts longer, so it is not waited for. Once ctx
// has ended, left asks once.
func (b *bench) left(ctx context.Context) leftovers {
	end := time.Now().Add(b.ttl + leftTimeout)
	for {
		l := b.look(context.WithoutCancel(ctx))
		if len(l.keys) == 0 || l.expire > time.Until(end) || !pause.For(ctx, leftPause) {
			return l
		}
	}
}

func (b *bench) look(ctx context.Context) leftovers {
	ctx, cancel := context.WithTimeout(ctx, leftTimeout)
	defer cancel()
	l := leftovers{keys: make(map[string]int)}
	for i, name := range b.names {
		n, expire, err := b.keysOn(ctx, i)
		if err != nil {
			l.unknown = append(l.unknown, name)
		} else if n > 0 {
			l.keys[name], l.expire = n, max(l.expire, expire)
		}
	}
	return l
}

// keysOn counts the locks of the bench and their queues on a node, and says when the last of them expires. The lock of
// the bench itself does not count while it runs.
func (b *bench) keysOn(ctx context.Context, node int) (n int, expire time.Duration, err error) {
	names := []string{shared}
	if b.ended {
		names = append(names, running)
	}
	for i := range max(hungCallers, slices.Max(b.callers)) {
		names = append(names, own(i))
	}
	pipe := b.nodes[node].Client.Pipeline()
	var found []*redis.DurationCmd
	for _, name := range names {
		found = append(found, pipe.PTTL(ctx, b.prefix+name), pipe.PTTL(ctx, redlock.QueueKey(b.prefix+name)))
	}
	_, err = pipe.Exec(ctx)
	for _, f := range found {
		if left := f.Val(); left != noKey {
			n, expire = n+1, max(expire, left)
		}
	}
	return n, expire, err
}

// noKey is how go-redis passes on the reply of PTTL for a key that is not there.
const noKey = -2

// err reports what the bench left behind, or may have; nil if that is nothing.
func (l leftovers) err() error {
	var all []error
	for _, node := range slices.Sorted(maps.Keys(l.keys)) {
		all = append(all, fmt.Errorf("%s: %s of the bench left: wait until they expire, within %v", node,
			output.Count(l.keys[node], "key"), l.expire.Round(time.Second)+time.Second))
	}
	for _, node := range l.unknown {
		all = append(all, fmt.Errorf("%s did not answer at the end: keys of the bench on it, if any, expire by themselves",
			node))
	}
	return errors.Join(all...)
}
