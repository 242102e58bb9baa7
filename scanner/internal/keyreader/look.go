package keyreader

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// Batch is the number of keys in one pipeline.
const Batch = 128

// Look returns what the keys hold now, read on the master, in the order of keys. A missing key is Gone. The error is
// as for [Reader.Page].
func (r *Reader) Look(ctx context.Context, keys []string) ([]Value, error) {
	return r.lookWithin(ctx, keys, small)
}

// LookAtReaders is Look that reads the fields of larger hashes, too: up to 100 readers of a lock.
func (r *Reader) LookAtReaders(ctx context.Context, keys []string) ([]Value, error) {
	return r.lookWithin(ctx, keys, crowd)
}

func (r *Reader) lookWithin(ctx context.Context, keys []string, limits hashLimits) ([]Value, error) {
	values := make([]Value, 0, len(keys))
	for some := range slices.Chunk(keys, Batch) {
		seen, err := r.lookAt(ctx, some, limits)
		if err != nil {
			return nil, err
		}
		values = append(values, seen...)
	}
	return values, nil
}

func (r *Reader) lookAt(ctx context.Context, keys []string, limits hashLimits) ([]Value, error) {
	for r.capability.scripts != refused && !r.failed {
		values, err := r.scriptLook(ctx, keys, limits)
		switch {
		case err == nil:
			r.capability.scripts = proven
			return values, nil
		case !redisconn.IsReply(err):
			return nil, err
		case !node.IsRefused(err):
			return r.plainLook(ctx, keys, limits)
		}
		r.capability.refuse()
	}
	return r.plainLook(ctx, keys, limits)
}

// scriptLook reads each key's value and TTL at one instant.
func (r *Reader) scriptLook(ctx context.Context, keys []string, limits hashLimits) ([]Value, error) {
	eval := r.capability.command()
	cmds, err := r.pipeLooks(ctx, eval.ByHash, r.look.Hash, keys, limits)
	if redisconn.IsUnknownScript(err) {
		cmds, err = r.pipeLooks(ctx, eval.BySource, r.look.Source, keys, limits)
	}
	if err != nil {
		return nil, err
	}
	values := make([]Value, len(keys))
	var redirected []int
	for i, cmd := range cmds {
		switch {
		case isRedirection(cmd.Err()):
			redirected = append(redirected, i)
		case cmd.Err() != nil:
			values[i] = gone(keys[i])
		default:
			values[i], err = parseValue(cmd.Val())
		}
		if err != nil {
			return nil, err
		}
	}
	return values, r.lookAgain(ctx, keys, values, redirected, limits)
}

// lookAgain asks by plain commands, which can ask for a key whose slot is moving.
func (r *Reader) lookAgain(ctx context.Context, keys []string, values []Value, at []int, limits hashLimits) error {
	if len(at) == 0 {
		return nil
	}
	some := make([]string, len(at))
	for i, k := range at {
		some[i] = keys[k]
	}
	seen, err := r.plainLook(ctx, some, limits)
	if err != nil {
		return err
	}
	for i, k := range at {
		values[k] = seen[i]
	}
	return nil
}

func (r *Reader) pipeLooks(ctx context.Context, command, script string, keys []string, limits hashLimits,
) ([]*redis.Cmd, error) {
	pipe := r.master.Pipeline()
	cmds := make([]*redis.Cmd, len(keys))
	for i, key := range keys {
		cmds[i] = pipe.Do(ctx, command, script, 1, key, limits.fields, limits.bytes)
	}
	r.calls += int64(len(keys))
	return cmds, Execute(ctx, pipe)
}
