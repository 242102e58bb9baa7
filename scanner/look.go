package scanner

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/server"
)

// lookBatch is how many keys one pipeline looks at.
const lookBatch = 128

// look tells what the keys hold now, on the master itself, in the order of keys.
// A key that is gone, or whose slot has moved away, has kindNone.
func (s *Scanner) look(ctx context.Context, t *target, keys []string) ([]value, error) {
	values := make([]value, 0, len(keys))
	for batch := range slices.Chunk(keys, lookBatch) {
		some, err := s.lookAt(ctx, t, batch)
		if err != nil {
			return nil, err
		}
		values = append(values, some...)
	}
	return values, nil
}

func (s *Scanner) lookAt(ctx context.Context, t *target, keys []string) ([]value, error) {
	if t.path == PathScript && !t.scriptFailed {
		values, err := s.lookByScript(ctx, t, keys)
		if err == nil || !server.IsReply(err) {
			return values, err
		}
	}
	looks := make([]*look, len(keys))
	for i, key := range keys {
		looks[i] = &look{value: value{key: key}, wanted: true}
	}
	l := looker{ctx: ctx, client: t.master, calls: &t.calls}
	found, err := l.describe(looks)
	if err != nil {
		return nil, err
	}
	values := make([]value, len(keys))
	for i, key := range keys {
		values[i] = value{key: key, ttl: never, kind: kindNone}
		if len(found) > 0 && found[0].key == key {
			values[i], found = found[0], found[1:]
		}
	}
	return values, nil
}

// lookByScript sees each key's value and TTL of one instant.
func (s *Scanner) lookByScript(ctx context.Context, t *target, keys []string) ([]value, error) {
	eval := server.EvalCommands()[t.script]
	cmds, err := s.pipeLooks(ctx, t, eval.ByHash, s.scripts.look.Hash, keys)
	if server.IsUnknownScript(err) {
		cmds, err = s.pipeLooks(ctx, t, eval.BySource, s.scripts.look.Source, keys)
	}
	if err != nil {
		return nil, err
	}
	values := make([]value, len(keys))
	for i, cmd := range cmds {
		if cmd.Err() != nil {
			values[i] = value{key: keys[i], ttl: never, kind: kindNone}
		} else if values[i], err = parseValue(cmd.Val()); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (s *Scanner) pipeLooks(ctx context.Context, t *target, command, script string, keys []string) ([]*redis.Cmd, error) {
	pipe := t.master.Pipeline()
	cmds := make([]*redis.Cmd, len(keys))
	for i, key := range keys {
		cmds[i] = pipe.Do(ctx, command, script, 1, key)
	}
	t.calls += int64(len(keys))
	_, _ = pipe.Exec(ctx)
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !aboutKey(err) {
			return nil, err
		}
	}
	return cmds, nil
}
