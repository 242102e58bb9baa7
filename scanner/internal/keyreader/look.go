package keyreader

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Batch is the number of keys in one pipeline.
const Batch = 128

// Look returns what the keys hold now, read on the master, in the order of keys. A missing key is Gone. The error is
// as for [Reader.Page].
func (r *Reader) Look(ctx context.Context, keys []string) ([]Value, error) {
	values := make([]Value, 0, len(keys))
	for some := range slices.Chunk(keys, Batch) {
		seen, err := r.lookAt(ctx, some)
		if err != nil {
			return nil, err
		}
		values = append(values, seen...)
	}
	return values, nil
}

func (r *Reader) lookAt(ctx context.Context, keys []string) ([]Value, error) {
	if r.Scripted() {
		values, err := r.scriptLook(ctx, keys)
		if err == nil || !redisconn.IsReply(err) {
			return values, err
		}
	}
	return r.plainLook(ctx, keys)
}

// scriptLook reads each key's value and TTL at one instant.
func (r *Reader) scriptLook(ctx context.Context, keys []string) ([]Value, error) {
	eval := r.capability.command()
	cmds, err := r.pipeLooks(ctx, eval.ByHash, r.look.Hash, keys)
	if redisconn.IsUnknownScript(err) {
		cmds, err = r.pipeLooks(ctx, eval.BySource, r.look.Source, keys)
	}
	if err != nil {
		return nil, err
	}
	values := make([]Value, len(keys))
	for i, cmd := range cmds {
		switch {
		case isRedirection(cmd.Err()):
			values[i], err = r.plainLookAt(ctx, keys[i])
		case cmd.Err() != nil:
			values[i] = gone(keys[i])
		default:
			values[i], err = parseValue(cmd.Val())
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// plainLookAt can ask for a key whose slot is moving.
func (r *Reader) plainLookAt(ctx context.Context, key string) (Value, error) {
	values, err := r.plainLook(ctx, []string{key})
	if err != nil {
		return Value{}, err
	}
	return values[0], nil
}

func (r *Reader) pipeLooks(ctx context.Context, command, script string, keys []string) ([]*redis.Cmd, error) {
	pipe := r.master.Pipeline()
	cmds := make([]*redis.Cmd, len(keys))
	for i, key := range keys {
		cmds[i] = pipe.Do(ctx, command, script, 1, key)
	}
	r.calls += int64(len(keys))
	return cmds, execute(ctx, pipe)
}
