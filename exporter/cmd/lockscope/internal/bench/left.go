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
	quietPause  = 10 * time.Millisecond
)

// leftovers are the keys of a bench that its nodes still have at the end.
type leftovers struct {
	keys    map[string]int // by node
	unknown []string       // nodes that did not answer
}

// left asks all nodes until no key is left, or until what was left at the end has expired. A busy or hung node may take a
// lock after its caller gave up, and then has it for a TTL. Once ctx has ended, left asks once.
func (b *bench) left(ctx context.Context) leftovers {
	expired := time.Now().Add(b.ttl + leftTimeout)
	for {
		l := b.look(context.WithoutCancel(ctx))
		if len(l.keys) == 0 || time.Now().After(expired) || !pause.For(ctx, leftPause) {
			return l
		}
	}
}

func (b *bench) look(ctx context.Context) leftovers {
	ctx, cancel := context.WithTimeout(ctx, leftTimeout)
	defer cancel()
	l := leftovers{keys: make(map[string]int)}
	for i, name := range b.names {
		n, err := b.keysOn(ctx, i)
		if err != nil {
			l.unknown = append(l.unknown, name)
		} else if n > 0 {
			l.keys[name] = n
		}
	}
	return l
}

// keysOn counts the locks of the bench and their queues on a node. The lock of the bench itself does not count while it
// runs.
func (b *bench) keysOn(ctx context.Context, node int) (n int, err error) {
	names := []string{shared}
	if b.ended {
		names = append(names, running)
	}
	for i := range max(hungCallers, slices.Max(b.callers)) {
		names = append(names, own(i))
	}
	pipe := b.nodes[node].Client.Pipeline()
	found := make([]*redis.IntCmd, len(names))
	for i, name := range names {
		found[i] = pipe.Exists(ctx, b.prefix+name, redlock.QueueKey(b.prefix+name))
	}
	_, err = pipe.Exec(ctx)
	for _, f := range found {
		n += int(f.Val())
	}
	return n, err
}

// quiet waits until a node has answered what the callers before left behind: a node that hung now would keep it.
func (b *bench) quiet(ctx context.Context, node int) {
	ctx, cancel := context.WithTimeout(ctx, leftTimeout)
	defer cancel()
	for {
		if n, err := b.keysOn(ctx, node); err != nil || n == 0 || !pause.For(ctx, quietPause) {
			return
		}
	}
}

// err reports what the bench left behind, or may have; nil if that is nothing.
func (l leftovers) err(ttl time.Duration) error {
	var all []error
	for _, node := range slices.Sorted(maps.Keys(l.keys)) {
		all = append(all, fmt.Errorf("%s: %s of the bench left: wait until they expire, within %v", node,
			output.Count(l.keys[node], "key"), ttl))
	}
	for _, node := range l.unknown {
		all = append(all, fmt.Errorf("%s did not answer at the end: keys of the bench on it, if any, expire within %v",
			node, ttl))
	}
	return errors.Join(all...)
}
